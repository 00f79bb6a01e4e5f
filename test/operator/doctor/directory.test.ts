import { request as plainRequest } from 'node:http';
import { createServer as createSecureServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { configuredTools } from '../../../src/mcp/configured-tools.ts';
import { CHECKS } from '../../../src/operator/doctor/checks/checks.ts';
import { LISTING_CHECKS, rulesOf } from '../../../src/operator/doctor/directory/checks/checks.ts';
import { examineListing } from '../../../src/operator/doctor/directory/directory-doctor.ts';
import { exitCode } from '../../../src/operator/doctor/report.ts';
import { registerApp } from '../../support/app.ts';
import { type Authority, createAuthority } from '../../support/certificates.ts';
import { runCommand } from '../../support/command.ts';
import { connect } from '../../support/connection.ts';
import { type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts';
import { startWorld, type World } from '../../support/world.ts';
import { UNLISTED } from './support/listing-faults.ts';

const CONFIG = fileURLToPath(new URL('../../../config/coursegate.yaml', import.meta.url));

const toolsOfDemo = async () =>
  configuredTools((await loadConfig({ file: CONFIG, environment: { COURSEGATE_PROFILE: 'A' } })).config.mcp);

/** A server that ends TLS in front of a gate, as a load balancer does. */
async function startTls(authority: Authority): Promise<{ origin: string; target: string; close(): Promise<void> }> {
  const server: Server = createSecureServer(authority.issue('localhost', 30), (request, response) => {
    const { hostname, port } = new URL(tls.target);
    const passed = plainRequest({
      hostname,
      port,
      path: request.url,
      method: request.method,
      headers: request.headers,
    });
    passed.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    request.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const tls = {
    origin: `https://localhost:${(server.address() as AddressInfo).port}`,
    target: '',
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return tls;
}

describe('the demo behind TLS', () => {
  let authority: Authority;
  let tls: Awaited<ReturnType<typeof startTls>>;
  let world: World;
  beforeAll(async () => {
    authority = createAuthority();
    tls = await startTls(authority);
    const pages = { policyUri: `${tls.origin}/auth.md?privacy`, tosUri: `${tls.origin}/auth.md?terms` };
    world = await startWorld({ profile: 'A', overrides: { origin: tls.origin, pages } });
    tls.target = world.origin;
  });
  afterAll(async () => {
    await world.close();
    await tls.close();
    authority.close();
  });

  const examine = (directory: 'claude' | 'openai', more: object = {}) =>
    examineListing({
      url: `${tls.origin}/mcp`,
      directory,
      token: undefined,
      own: undefined,
      register: true,
      ca: authority.ca,
      ...more,
    });
  /** What a listing needs and no request shows. */
  const HIDDEN = ['listing.address', 'listing.support', 'review.account'];

  it.each([
    ['claude', [...HIDDEN, 'listing.port', 'review.screenshots']],
    ['openai', [...HIDDEN, 'listing.domain', 'review.cases']],
  ] as const)('breaks no rule of %s', { timeout: 60_000 }, async (directory, hidden) => {
    const report = await examine(directory);
    const levels = Object.groupBy(report.findings, ({ level }) => level);
    expect(levels.failure ?? []).toEqual([]);
    expect(levels.warning ?? []).toEqual([]);
    expect((levels.skipped ?? []).map(({ check }) => check).toSorted()).toEqual(hidden.toSorted());
    for (const { seen } of levels.skipped ?? [])
      expect(seen).toMatch(/^cannot be seen from here\. |^this machine is not on/);
    expect(levels.pass?.length).toBeGreaterThan(35);
    expect(report).toMatchObject({ complete: true, leftBehind: [] });
    expect(exitCode(report)).toBe(0);
  });

  it('says which tools it cannot see without a token', async () => {
    const own = { support: undefined, tools: await toolsOfDemo() };
    const report = await examine('claude', { own, only: ['tool.listed'] });
    expect(report.findings).toMatchObject([
      { level: 'skipped', seen: expect.stringMatching(/--token for get_my_account, /) },
    ]);
  });
});

/** Sees the tool for those who teach, too. */
const TEACHER = { login: 'teacher@example.com', password: 'teacher' };

describe('the demo with the tools of members', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A' });
  });
  afterAll(() => world.close());

  it.each(['claude', 'openai'] as const)('break no rule of %s', { timeout: 60_000 }, async (directory) => {
    const app = await registerApp(world.origin);
    const { access_token: token } = await connect(app, { member: TEACHER });
    const own = { support: 'mailto:help@school.example', tools: await toolsOfDemo() };
    const asked = { url: `${world.origin}/mcp`, register: true, directory, token };
    const report = await examineListing({ ...asked, own });
    const found = (id: string) => report.findings.find(({ check }) => check === id);
    expect(report.findings.filter(({ level }) => level === 'failure' || level === 'warning')).toEqual([]);
    expect(found('tool.listed')).toMatchObject({ level: 'pass', seen: '10 tools' });
    expect(found('tool.answers')).toMatchObject({ level: 'pass', seen: '7 tools called' });
    expect(found('listing.support')).toMatchObject({ level: 'pass', seen: 'mailto:help@school.example' });
    const tools = own.tools.map((one) =>
      one.name === 'get_course' ? { ...one, annotations: { readOnlyHint: false } } : one,
    );
    const wrong = await examineListing({ ...asked, only: ['tool.truth'], own: { ...own, tools } });
    expect(wrong.findings).toMatchObject([
      { level: 'failure', seen: expect.stringContaining('get_course has readOnlyHint true') },
    ]);
  });

  it('are seen from the command line, with a token in the environment', { timeout: 60_000 }, async () => {
    const { access_token: token } = await connect(await registerApp(world.origin), { member: TEACHER });
    const run = async (...args: readonly string[]) => {
      const command = runCommand(['doctor', '--directory', 'openai', ...args], { COURSEGATE_DOCTOR_TOKEN: token });
      return { code: await command.exited, out: command.stdout(), error: command.stderr() };
    };
    const { code, out } = await run(`${world.origin}/mcp`, '--config', CONFIG, '--json');
    const report = JSON.parse(out);
    expect(report.summary).toMatchObject({ failures: 0, warnings: 0 });
    expect(report.findings).toContainEqual(expect.objectContaining({ check: 'tool.listed', seen: '10 tools' }));
    expect(code).toBe(0);
    expect(out).not.toContain(token);
    expect(await run()).toMatchObject({ code: 64, error: expect.stringContaining('--directory needs a URL.') });
    expect((await run('--gateway', 'https://school.example', '--echo', '/echo')).code).toBe(64);
  });
});

describe('a deployment that breaks one rule of a directory', () => {
  let proxy: FaultProxy;
  let world: World;
  beforeAll(async () => {
    proxy = await startFaultProxy();
    world = await startWorld({
      profile: 'A',
      overrides: { origin: proxy.origin, clients: { registration: { perAddressPerMinute: 100_000 } } },
    });
    proxy.target = world.origin;
  });
  afterAll(async () => {
    await world.close();
    await proxy.close();
  });
  const themes = ['tool', 'card', 'consent', 'listing', 'review'];
  const examine = (directory: 'claude' | 'openai') =>
    examineListing({
      url: `${proxy.origin}/mcp`,
      directory,
      token: undefined,
      own: undefined,
      register: true,
      only: themes,
    });

  it.each(UNLISTED)('$what is found ($directory)', { timeout: 60_000 }, async ({ directory, finds, says, fault }) => {
    proxy.fault = fault;
    const report = await examine(directory);
    const found = report.findings.filter(({ level }) => level === 'warning' || level === 'failure');
    expect([...new Set(found.map(({ check }) => check))].toSorted(), JSON.stringify(found)).toEqual(
      [...finds].toSorted(),
    );
    const first = found.filter(({ check }) => check === finds[0]);
    expect(first.map(({ level, seen }) => `${level}: ${seen}`).join('\n')).toMatch(says);
    expect(exitCode(report)).toBe(found.some(({ level }) => level === 'failure') ? 1 : 0);
  });

  it('exists for each check that a request can answer', () => {
    const covered = new Set(UNLISTED.flatMap(({ finds }) => finds));
    const left = LISTING_CHECKS.map(({ id }) => id).filter((id) => !covered.has(id));
    // The address and the port are below; the others depend on nothing that a deployment answers.
    expect(left.toSorted()).toEqual([
      'listing.address',
      'listing.port',
      'listing.support',
      'review.account',
      'review.cases',
      'review.screenshots',
    ]);
  });
});

describe('the rules of a directory', () => {
  const run = (id: string, origin: string) =>
    Promise.resolve().then(() => LISTING_CHECKS.find((one) => one.id === id)?.run({ origin } as never));

  it('want port 443 and a public IPv4 address', async () => {
    await expect(run('listing.port', 'https://school.example')).resolves.toMatchObject({ level: 'pass' });
    await expect(run('listing.port', 'https://school.example:8443')).resolves.toMatchObject({
      level: 'failure',
      seen: 'the port is 8443',
    });
    await expect(run('listing.address', 'https://192.168.1.7')).resolves.toMatchObject([{ level: 'failure' }]);
    await expect(run('listing.address', 'https://93.184.216.34')).resolves.toMatchObject([{ level: 'pass' }]);
    await expect(run('listing.port', 'https://localhost:8443')).rejects.toThrow(/not on the internet/);
  });

  it.each(['claude', 'openai'] as const)('of %s repeat checks of a deployment, and have no id twice', (directory) => {
    const ids = rulesOf(directory).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    // Fewer, if one of the ids that are repeated does not exist.
    expect(rulesOf(directory).filter((rule) => CHECKS.includes(rule as never))).toHaveLength(26);
  });
});
