import { type AddressInfo, connect, createServer as createSilentServer } from 'node:net';
import { createServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GATEWAY_CHECKS } from '../../../src/operator/doctor/gateway/checks/checks.ts';
import { type EchoServer, startEchoServer } from '../../../src/operator/doctor/gateway/echo.ts';
import { sendFramings } from '../../../src/operator/doctor/gateway/framings.ts';
import type { GatewayRequest } from '../../../src/operator/doctor/gateway/gateway.ts';
import { examineGateway, type GatewayDoctorOptions } from '../../../src/operator/doctor/gateway/gateway-doctor.ts';
import { otherIdentityFields } from '../../../src/operator/doctor/gateway/names.ts';
import { sendOddRequests } from '../../../src/operator/doctor/gateway/odd-requests.ts';
import { exitCode, type Report } from '../../../src/operator/doctor/report.ts';
import { toText } from '../../../src/operator/doctor/report-text.ts';
import { UsageError } from '../../../src/operator/usage-error.ts';
import { createAuthority } from '../../support/certificates.ts';
import { runCommand } from '../../support/command.ts';
import { freePort } from '../../support/world.ts';
import { TOKEN } from './support/auth-service.ts';
import { type CarelessGateway, startCarelessGateway } from './support/careless-gateway.ts';

/** What gateways do wrong is in gateway.test.ts. Here one is enough. */
let echo: EchoServer;
let gateway: CarelessGateway;
beforeAll(async () => {
  echo = await startEchoServer('127.0.0.1', 0);
  gateway = await startCarelessGateway(`127.0.0.1:${echo.port}`);
});
afterAll(async () => {
  await gateway.close();
  await echo.close();
});

const addressOf = (port: number) => `http://127.0.0.1:${port}`;

function examine(more: Partial<GatewayDoctorOptions>): Promise<Report> {
  return examineGateway({ url: addressOf(gateway.port), echo: '/echo', token: TOKEN, ...more });
}

it('attacks over https, with a certificate that is trusted', async () => {
  const authority = createAuthority();
  const { cert, key } = authority.issue('localhost');
  const terminator = createServer({ cert, key }, (client) => {
    const inner = connect(gateway.port, '127.0.0.1');
    client.on('error', () => inner.destroy()).pipe(inner);
    inner.on('error', () => client.destroy()).pipe(client);
  });
  await new Promise<void>((resolve) => terminator.listen(0, '127.0.0.1', resolve));
  try {
    const secure = { url: `https://localhost:${(terminator.address() as AddressInfo).port}`, only: ['echo', 'forged'] };
    const report = await examine({ ...secure, ca: authority.ca });
    expect(report.findings.map(({ level }) => level)).toEqual(report.findings.map(() => 'pass'));
    expect((await examine(secure)).unreachable).toMatch(/^the certificate is not trusted/);
  } finally {
    await new Promise((resolve) => terminator.close(resolve));
    authority.close();
  }
});

describe('the report about a gateway', () => {
  it('says what is skipped without a token, and fails if nothing reaches an echo server', async () => {
    const without = { url: addressOf(gateway.port), echo: '/echo', skip: ['framing'] };
    const some = await examineGateway(without);
    const reasonOf = (check: string) => some.findings.find((one) => one.check === check);
    expect(reasonOf('forged.identity')).toMatchObject({
      level: 'skipped',
      seen: expect.stringContaining('valid token'),
    });
    expect(reasonOf('refusal.forbidden')).toMatchObject({
      level: 'skipped',
      seen: expect.stringContaining('valid token'),
    });
    expect(reasonOf('path.dot-segments')).toMatchObject({ level: 'pass' });
    const none = await examineGateway({ ...without, open: '/staff' });
    expect(none.findings.find(({ level }) => level !== 'skipped')).toMatchObject({
      check: 'echo.reached',
      level: 'failure',
      seen: 'no token was given, and /staff does not reach an echo server',
    });
    expect(none.findings.filter(({ level }) => level === 'pass').map(({ check }) => check)).toEqual([
      'refusal.challenge',
      'refusal.body',
      'refusal.status',
    ]);
    expect(exitCode(none)).toBe(1);
  });

  it('lists at most five findings of one check', async () => {
    const { findings } = await examine({ only: ['framing.ambiguous'] });
    expect(findings.length).toBe(5);
    expect(findings.at(-1)?.seen).toMatch(/ \(and \d+ more like it\)$/);
  });

  it('is incomplete if the gateway does not answer in time', async () => {
    const silent = createSilentServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = silent.address() as AddressInfo;
      const report = await examine({ url: addressOf(port), patience: 50, timeout: 0.3 });
      expect(report.findings[0]).toMatchObject({
        level: 'failure',
        seen: '/echo with the token: no answer, without an echo',
      });
      expect(report.complete).toBe(false);
      expect(exitCode(report)).toBe(2);
    } finally {
      silent.close();
    }
  });

  it('names further fields of the same family, and of other products', () => {
    const names = otherIdentityFields(['X-Member-Id', 'X-Client-Id', 'X-User', 'Assertion']);
    expect(names).toEqual(
      expect.arrayContaining(['X-Member-Email', 'X-Member-Roles', 'Remote-User', 'X-WEBAUTH-USER']),
    );
    // The app that acts for the member is in X-Client-Id, and X alone is no family.
    expect(names.filter((name) => /^X-Client-(?!Id)|^X-(?:Name|Roles)$|^Assertio/.test(name))).toEqual([]);
    expect(names).not.toContain('X-Member-Id');
  });
});

describe('coursegate doctor --gateway', () => {
  it('runs an echo server for the audit, never prints the token, and exits 1 for what it finds', async () => {
    const echoPort = await freePort();
    const careless = await startCarelessGateway(`127.0.0.1:${echoPort}`);
    try {
      const address = addressOf(careless.port);
      const where = ['--gateway', address, '--echo', '/echo', '--echo-server', `127.0.0.1:${echoPort}`];
      const command = runCommand(['doctor', ...where, '--skip', 'path'], { COURSEGATE_DOCTOR_TOKEN: TOKEN });
      expect(await command.exited).toBe(1);
      expect(command.stderr()).toBe(`Attacking ${address}/echo …\n`);
      expect(command.stdout()).toContain('✗ Every request on a connection is judged\n  seen ');
      expect(command.stdout()).toMatch(/^✓ Forged identity: \d+ checks passed$/m);
      expect(command.stdout() + command.stderr()).not.toContain(TOKEN);
    } finally {
      await careless.close();
    }
  });

  it.each([
    [['--gateway', 'http://127.0.0.1:1'], '--gateway needs --echo'],
    [['--echo', '/echo'], '--echo needs --gateway.'],
  ])('exits 64 for %j', async (args, says) => {
    const command = runCommand(['doctor', ...args]);
    expect(await command.exited).toBe(64);
    expect(command.stderr()).toContain(says);
  });

  it.each([
    [{ echo: '/a/../b' }, '"/a/../b" is not a plain path such as /echo.'],
    [{ echo: '/' }, '--echo must name a path below the root'],
    [{ open: '/a/b' }, '--public must name a path that is not below /a.'],
    [{ only: ['cors'] }, 'There is no check "cors".'],
    [{ token: 'two words' }, 'The token has characters that no bearer token has.'],
    [{ echoServer: '8099' }, '"8099" is not an address such as 127.0.0.1:8099.'],
  ])('refuses %j', async (wrong, says) => {
    const examined = examineGateway({ url: 'http://127.0.0.1:1', echo: '/a', ...wrong });
    await expect(examined).rejects.toThrow(UsageError);
    await expect(examined).rejects.toThrow(says);
  });

  it('exits 2 if nothing listens there', async () => {
    const report = await examineGateway({ url: 'http://127.0.0.1:1', echo: '/echo' });
    expect(exitCode(report)).toBe(2);
    expect(toText(report, { width: 80, colour: false })).toContain('cannot be reached: nothing is listening there.');
  });
});

it('comes from the attacks that are listed, each request of them', async () => {
  const sent: string[] = [];
  const none = { id: '1.', answers: [], echoes: [] };
  const record = async (request: GatewayRequest | string) => {
    sent.push(JSON.stringify(request));
    return none;
  };
  const echo = { method: 'GET', target: '/echo', headers: [] };
  const gateway = {
    ...{ echoPath: '/echo', openPath: '/public/x', forbiddenPath: '/staff', host: 'a.example', busy: [] },
    ...{ to: { origin: 'https://a.example' }, otherHosts: ['b.example'], bearer: 'Bearer token' },
    ...{ anonymous: none, withToken: none, opened: none, refused: none, admitted: echo, open: echo },
    ...{ carrier: { request: { authorization: 'Bearer token' }, echo }, identity: ['X-Member-Id', 'X-Member-User'] },
    send: record,
    sendBytes: (write: (id: string) => string) => record(write('1.')),
    framings: () => sendFramings(gateway as never, {}),
    oddRequests: () => sendOddRequests(gateway as never),
  };
  for (const { id, run } of GATEWAY_CHECKS) {
    sent.push('', id);
    await run(gateway as never);
  }
  const text = sent.join('\n').replace(/x{100,}/g, ({ length }) => `x*${length}`);
  await expect(`${text.trim()}\n`).toMatchFileSnapshot('support/gateway-attacks.txt');
});
