import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startSchool } from '../../../src/tools/demo/school.ts';
import { authorizationRequest, redeem, registerApp } from '../../../test/support/app.ts';
import { createBrowser } from '../../../test/support/browser.ts';
import { approve } from '../../../test/support/member.ts';
import { type RedisServer, redisPresent, startRedis } from '../../../test/support/redis.ts';
import { freePort, startProcess } from '../../support/processes.ts';
import type { Peer, PeerContext, Running } from './peer.ts';

const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const CLUSTER = fileURLToPath(new URL('../servers/cluster.ts', import.meta.url));
/** Number of tokens that the load uses in turn. Each is a real token from a separate flow. */
const TOKENS = 24;

export const COURSEGATE = 'coursegate';

/** The product: `serve` with its own store, default settings, the access log in a file, and metrics. */
export function coursegate(routes = 10): Peer {
  return {
    name: routes === 10 ? COURSEGATE : `${COURSEGATE}, ${routes} routes`,
    start: (context) => start(context, routes),
  };
}

async function start({ folder, upstream, workers, processor }: PeerContext, routes: number): Promise<Running> {
  const [port, admin] = [await freePort(), await freePort()];
  const inspector = await freePort();
  const origin = `http://localhost:${port}`;
  const home = mkdtempSync(join(folder, 'gate-'));
  mkdirSync(join(home, 'data'));
  const school = await startSchool({
    ports: { school: 0, progress: 0, events: 0 },
    gate: () => ({ issuer: origin, jwksUrl: `${origin}/.well-known/jwks.json` }),
    clock: Date.now,
  });
  // The embedded store allows one process only. Two workers share a Redis, as two replicas would.
  const redis: RedisServer | undefined = workers === 2 && redisPresent() ? await startRedis() : undefined;
  const file = join(home, 'gate.yaml');
  const filler = Array.from(
    { length: routes - 2 },
    (_, at) => `  - { match: "GET /api/area-${at}/things/**", upstream: bench, scopes: [courses:read] }`,
  );
  writeFileSync(
    file,
    `version: 1
profile: B
origin: ${origin}
listen: { port: ${port}, admin: { port: ${admin} } }
store: ${redis === undefined ? `{ kind: sqlite, path: data/gate.db }` : '{ kind: redis, url: { env: REDIS_URL } }'}
secret: { env: BENCH_SECRET }
login:
  kind: session
  upstream: school
  whoami: { path: /api/me, subject: /id, email: /email, name: /name }
  loginUrl: /login
  cookies: [school_session]
upstreams:
  school: { url: ${school.urls.school} }
  bench: { url: http://127.0.0.1:${upstream.port} }
  streams: { url: http://127.0.0.1:${upstream.streamPort} }
site: { upstream: school }
# The load is one member's from one address: counted as always, but never refused.
limits:
  address: { requests: 1000000000, per: 1m }
  member: { requests: 1000000000, per: 1m }
  client: { requests: 1000000000, per: 1m }
  attempts: { requests: 1000000000, per: 1m }
  open: { address: 100000, member: 100000 }
routes:
${filler.join('\n')}
  - { match: "GET /api/bench/stream", upstream: streams, scopes: [courses:read], anonymous: refuse }
  - { match: "GET /api/bench/**", upstream: bench, scopes: [courses:read], anonymous: refuse }
`,
  );
  const gate = await startProcess(
    process.execPath,
    [
      ...(workers === 1 ? [`--inspect-port=${inspector}`] : [CLUSTER, String(workers)]),
      MAIN,
      'serve',
      '--config',
      file,
    ],
    {
      processor,
      environment: {
        BENCH_SECRET: randomBytes(32).toString('base64url'),
        REDIS_URL: redis?.url ?? '',
        ...profiling(home),
      },
      ready: new RegExp(`(coursegate ready[^]*){${workers}}`),
      output: join(home, 'output.log'),
    },
  );
  const tokens = await accessTokens(origin);
  return {
    port,
    roots: [gate.pid],
    ...(workers === 1 ? { inspector } : {}),
    tokens,
    async stop() {
      await gate.stop();
      await redis?.close();
      await school.close();
    },
  };
}

/** Gets tokens for one app and one member, with one approval each, over HTTP like an app and a browser. */
export async function accessTokens(origin: string): Promise<string[]> {
  const app = await registerApp(origin);
  const browser = createBrowser();
  const tokens: string[] = [];
  while (tokens.length < TOKENS) {
    const request = await authorizationRequest(app);
    const returned = await approve(request.url, app.redirectUri, { browser });
    tokens.push((await redeem(app, request, returned)).access_token);
  }
  return tokens;
}

/** With BENCH_PROFILE=folder, a CPU profile of the gate is written to that folder. */
function profiling(home: string): Record<string, string> {
  const folder = process.env.BENCH_PROFILE;
  return folder === undefined ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${folder}`, HOME: home };
}
