import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DoctorError, exitCode, type Report } from '../../../src/tools/doctor/doctor.ts';
import { GATEWAY_CHECKS, GATEWAY_THEMES } from '../../../src/tools/doctor/gateway/checks/checks.ts';
import { type EchoServer, startEchoServer } from '../../../src/tools/doctor/gateway/echo.ts';
import { examineGateway, type GatewayDoctorOptions } from '../../../src/tools/doctor/gateway/gateway-doctor.ts';
import { toText } from '../../../src/tools/doctor/report-text.ts';
import { runCommand } from '../../support/command.ts';
import { type HttpServer, serverPresent, startConfigured } from '../../support/http-server.ts';
import { PROXY_ROUTES, type ProxyWorld, startProxyWorld } from '../../support/proxy-world.ts';
import { freePort } from '../../support/world.ts';
import { type AuthService, startAuthService, TOKEN } from './support/auth-service.ts';
import { type CarelessGateway, startCarelessGateway } from './support/careless-gateway.ts';
import { type Behind, CORRECT, FAULTS, type Kind } from './support/gateway-faults.ts';
import { caddyConfiguration, haproxyConfiguration, nginxConfiguration } from './support/gateway-sites.ts';

const CONFIGURATIONS = { nginx: nginxConfiguration, haproxy: haproxyConfiguration, caddy: caddyConfiguration };
const PRESENT = Object.fromEntries(
  (Object.keys(CONFIGURATIONS) as Kind[]).map((kind) => [kind, serverPresent(kind)]),
) as Record<Kind, boolean>;
const ALL = [...CORRECT, ...FAULTS].filter(({ kind }) => PRESENT[kind]);

let echo: EchoServer;
let auth: AuthService;
let ports: ReadonlyMap<Behind, number>;
let servers: readonly HttpServer[] = [];
beforeAll(async () => {
  echo = await startEchoServer('127.0.0.1', 0);
  auth = await startAuthService();
  ports = new Map([...(await differentPorts(ALL.length))].map((port, at) => [ALL[at] as Behind, port]));
  servers = await Promise.all((Object.keys(CONFIGURATIONS) as Kind[]).filter((kind) => PRESENT[kind]).map(start));
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()));
  await auth.close();
  await echo.close();
});

/** One process for each kind of gateway, with all its configurations. */
function start(kind: Kind): Promise<HttpServer> {
  const mine = ALL.filter((one) => one.kind === kind);
  return startConfigured(kind, portOf(mine[0]), (folder) =>
    CONFIGURATIONS[kind](
      folder,
      mine.map((one) => one.site({ port: portOf(one), echo: `127.0.0.1:${echo.port}`, auth })),
    ),
  );
}

function portOf(one: Behind | undefined): number {
  const port = one === undefined ? undefined : ports.get(one);
  if (port === undefined) throw new Error('This configuration has no port.');
  return port;
}

async function differentPorts(count: number): Promise<ReadonlySet<number>> {
  const found = new Set<number>();
  while (found.size < count) found.add(await freePort());
  return found;
}

/** The doctor with the options that most tests share. */
function examine(port: number, more: Partial<GatewayDoctorOptions> = {}): Promise<Report> {
  return examineGateway({
    url: `http://127.0.0.1:${port}`,
    echo: '/echo',
    open: '/public/x',
    forbidden: '/staff',
    token: TOKEN,
    patience: 5000,
    ...more,
  });
}

async function examineBehind(one: Behind): Promise<Report> {
  const { token = TOKEN, authDown = false } = one;
  return examine(portOf(one), { token, authDown });
}

const problemsOf = ({ findings }: Report) => findings.filter(({ level }) => level === 'warning' || level === 'failure');

describe('doctor --gateway', () => {
  it.each(CORRECT)('reports nothing about $what', async (one) => {
    if (!PRESENT[one.kind]) return;
    const report = await examineBehind(one);
    expect(problemsOf(report)).toEqual([]);
    expect(exitCode(report)).toBe(0);
    const skipped = report.findings.filter(({ level }) => level === 'skipped').map(({ check }) => check);
    expect(skipped).toEqual(one.authDown === true ? [] : ['open.down', 'refusal.retry-after']);
  });

  it.each(FAULTS)('finds $what', async (one) => {
    if (!PRESENT[one.kind]) return;
    const problems = problemsOf(await examineBehind(one));
    const found = [...new Set(problems.map(({ check }) => check))];
    expect(found.toSorted(), JSON.stringify(problems, undefined, 1)).toEqual([...one.finds].toSorted());
    const first = problems.filter(({ check }) => check === one.finds[0]);
    if (one.says !== undefined) expect(first.map(({ seen }) => seen).join('\n')).toMatch(new RegExp(one.says, 'm'));
  });

  it('finds a gateway that judges connections instead of requests', async () => {
    const careless: CarelessGateway = await startCarelessGateway(`127.0.0.1:${echo.port}`);
    try {
      const problems = problemsOf(await examine(careless.port));
      expect([...new Set(problems.map(({ check }) => check))]).toEqual(['framing.smuggled', 'framing.ambiguous']);
      expect(problems[0]?.seen).toContain('a second request on the connection, reached the backend as GET /echo');
    } finally {
      await careless.close();
    }
  });

  it('has a fault for each check and each advisory', () => {
    const covered = new Set(FAULTS.flatMap(({ finds }) => finds));
    const others = GATEWAY_CHECKS.map(({ id }) => id).filter((id) => !covered.has(id));
    expect(others).toEqual(['framing.smuggled', 'framing.ambiguous']);
    expect(new Set(FAULTS.flatMap(({ advisory = [] }) => advisory)).size).toBe(17);
  });

  it('reports nothing about the gate as a proxy', async () => {
    const world: ProxyWorld = await startProxyWorld({
      upstream: `http://127.0.0.1:${echo.port}`,
      config: {
        routes: [
          ...PROXY_ROUTES,
          { match: '* /staff/**', upstream: 'back', scopes: ['orders:read'], anonymous: 'refuse' },
        ],
      },
    });
    try {
      const places = { echo: '/member/echo', open: '/public/echo', forbidden: '/staff/x', token: world.token };
      const report = await examine(world.port, { url: world.origin, ...places });
      expect(problemsOf(report)).toEqual([]);
      const skipped = report.findings.filter(({ level }) => level === 'skipped').map(({ check }) => check);
      expect(skipped).toEqual(['open.down', 'refusal.retry-after']);
    } finally {
      await world.close();
    }
  });
});

describe('the report about a gateway', () => {
  it('says what is skipped without a token, and fails if nothing reaches an echo server', async () => {
    const careless = await startCarelessGateway(`127.0.0.1:${echo.port}`);
    try {
      const without = { url: `http://127.0.0.1:${careless.port}`, echo: '/echo', skip: ['framing'] };
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
    } finally {
      await careless.close();
    }
  });

  it('has a unique ID, a title, a reference and a fix for each check', () => {
    const ids = GATEWAY_CHECKS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { id, title, reference, fix } of GATEWAY_CHECKS) {
      expect(id).toMatch(/^[a-z]+\.[a-z0-9-]+$/);
      expect(GATEWAY_THEMES, id).toHaveProperty([id.split('.')[0] ?? '']);
      expect(title, id).toMatch(/^[A-Z].{10,}[^.]$/);
      expect(reference, id).toMatch(/RFC \d+|GHSA-|CVE-|docs\/doctor\.md/);
      expect(fix, id).toMatch(/^[A-Z].{20,}\.$/s);
    }
  });
});

describe('coursegate doctor --gateway', () => {
  it('runs an echo server for the audit, never prints the token, and exits 1 for what it finds', async () => {
    const echoPort = await freePort();
    const careless = await startCarelessGateway(`127.0.0.1:${echoPort}`);
    try {
      const address = `http://127.0.0.1:${careless.port}`;
      const where = ['--gateway', address, '--echo', '/echo', '--echo-server', `127.0.0.1:${echoPort}`];
      const command = runCommand(['doctor', ...where, '--skip', 'path'], { COURSEGATE_DOCTOR_TOKEN: TOKEN });
      expect(await command.exited).toBe(1);
      expect(command.stderr()).toBe(`Attacking ${address}/echo …\n`);
      expect(command.stdout()).toContain('✗ No request is smuggled past the auth service');
      expect(command.stdout()).toContain('✓ A forged identity field is replaced');
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
    await expect(examined).rejects.toThrow(DoctorError);
    await expect(examined).rejects.toThrow(says);
  });

  it('exits 2 if nothing listens there', async () => {
    const report = await examineGateway({ url: 'http://127.0.0.1:1', echo: '/echo' });
    expect(exitCode(report)).toBe(2);
    expect(toText(report, { width: 80, colour: false })).toContain('cannot be reached: nothing is listening there.');
  });
});
