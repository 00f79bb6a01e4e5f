import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GATEWAY_CHECKS } from '../../../src/operator/doctor/gateway/checks/checks.ts';
import { type EchoServer, startEchoServer } from '../../../src/operator/doctor/gateway/echo.ts';
import { examineGateway, type GatewayDoctorOptions } from '../../../src/operator/doctor/gateway/gateway-doctor.ts';
import { exitCode, type Report } from '../../../src/operator/doctor/report.ts';
import { type HttpServer, serverPresent, startConfigured } from '../../support/http-server.ts';
import { PROXY_ROUTES, type ProxyWorld, startProxyWorld } from '../../support/proxy-world.ts';
import { freePort } from '../../support/world.ts';
import { type AuthService, startAuthService, TOKEN } from './support/auth-service.ts';
import { type CarelessGateway, startCarelessGateway } from './support/careless-gateway.ts';
import { type Behind, CORRECT, FAULTS, type Kind } from './support/gateway-faults.ts';
import { caddyConfiguration, haproxyConfiguration, nginxConfiguration } from './support/gateway-sites.ts';
import { SPELLINGS } from './support/spellings.ts';

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

  it('tries every spelling of the path, and finds a gateway that judges connections instead of requests', async () => {
    const careless: CarelessGateway = await startCarelessGateway(`127.0.0.1:${echo.port}`);
    try {
      const problems = problemsOf(await examine(careless.port));
      expect([...new Set(problems.map(({ check }) => check))]).toEqual(['framing.smuggled', 'framing.ambiguous']);
      expect(problems[0]?.seen).toContain('a second request on the connection, reached the backend as GET /echo');
      const asked = [...careless.targets].map((target) =>
        target.replace(/[?&]doctor=.*$/, '').replace(`127.0.0.1:${careless.port}`, 'HOST'),
      );
      expect(asked).toEqual(expect.arrayContaining([...SPELLINGS]));
      // After a message that a gateway mistakes, the answer to a later request may be that to another one.
      const numberOf = (target: string) => Number(/doctor=[0-9a-f]+-(\d+)/.exec(target)?.[1]);
      const [run = ''] = /doctor=[0-9a-f]+-/.exec([...careless.targets].join()) ?? [];
      const hidden = echo.received('doctor-hidden').filter(({ target }) => target.includes(run));
      const escaped = [...careless.targets].filter((target) => target.includes('%2f'));
      expect(Math.min(...hidden.map(({ target }) => numberOf(target)))).toBeGreaterThan(
        Math.max(...escaped.map(numberOf)),
      );
    } finally {
      await careless.close();
    }
  });

  it('has a fault for each check and each advisory', () => {
    const covered = new Set(FAULTS.flatMap(({ finds }) => finds));
    const others = GATEWAY_CHECKS.map(({ id }) => id).filter((id) => !covered.has(id));
    // The first one needs a gate with two schools: test/gateways/schools-doctor.test.ts.
    expect(others).toEqual(['described.school', 'framing.smuggled', 'framing.ambiguous']);
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
