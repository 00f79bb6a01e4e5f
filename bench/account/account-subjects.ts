import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startSchool } from '../../src/tools/demo/school.ts';
import { freePort, startProcess } from '../support/processes.ts';
import { accessTokens } from '../upstream/peers/coursegate.ts';

/** A running server of the Account API's contract. */
export interface AccountSubject {
  readonly name: string;
  readonly port: number;
  readonly pid: number;
  /** Its clients' tokens; empty if it does not check tokens. */
  readonly tokens: readonly string[];
  stop(): Promise<void>;
}

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The folder for the bench's files, and the port of the upstream that all subjects use. */
interface Site {
  readonly folder: string;
  readonly upstreamPort: number;
}

/** With BENCH_PROFILE=folder, a CPU profile of each subject is written to that folder. */
function profiled(name: string): string[] {
  const folder = process.env.BENCH_PROFILE;
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${join(folder, name)}`];
}

/** Starts the upstream of all subjects, in a separate process. */
export async function startAccountUpstream(folder: string) {
  const port = await freePort();
  const started = await startProcess(process.execPath, [here('./account-upstream.ts')], {
    environment: { PORT: String(port) },
    port,
    output: join(folder, 'upstream.log'),
  });
  return { port, stop: started.stop };
}

/** Starts one of the servers that do not authenticate: the member is fixed. */
export async function startServer(
  name: string,
  server: 'account-endpoint' | 'account-yoga' | 'account-stitch',
  { folder, upstreamPort }: Site,
): Promise<AccountSubject> {
  const port = await freePort();
  const started = await startProcess(process.execPath, [...profiled(server), here(`${server}.ts`)], {
    environment: { PORT: String(port), UPSTREAM: `http://127.0.0.1:${upstreamPort}`, NODE_ENV: 'production' },
    port,
    output: join(folder, `${server}.log`),
  });
  return { name, port, pid: started.pid, tokens: [], stop: started.stop };
}

/** Starts the product: `serve` with a store on disk and default settings, and tokens from real sign-ins and approvals. */
export async function startGate(name: string, { folder, upstreamPort }: Site): Promise<AccountSubject> {
  const [port, admin] = [await freePort(), await freePort()];
  const origin = `http://localhost:${port}`;
  const home = mkdtempSync(join(folder, 'gate-'));
  mkdirSync(join(home, 'data'));
  const school = await startSchool({
    ports: { school: 0, progress: 0, events: 0 },
    gate: () => ({ issuer: origin, jwksUrl: `${origin}/.well-known/jwks.json` }),
    clock: Date.now,
  });
  const file = join(home, 'gate.yaml');
  writeFileSync(
    file,
    `version: 1
profile: A
origin: ${origin}
listen: { port: ${port}, admin: { port: ${admin} } }
store: { kind: sqlite, path: data/gate.db }
secret: { env: BENCH_SECRET }
login:
  kind: session
  upstream: site
  whoami: { path: /api/me, subject: /id, email: /email, name: /name }
  loginUrl: /login
  cookies: [school_session]
upstreams:
  site: { url: ${school.urls.school} }
  school: { url: http://127.0.0.1:${upstreamPort} }
  progress: { url: http://127.0.0.1:${upstreamPort} }
site: { upstream: site }
account:
  schema: ${here('../../test/account/fixtures/courses.graphql')}
  mappings: ${here('../../test/account/fixtures/courses.map.graphql')}
  config: { currency: EUR }
# The load is one member's from one address: counted as always, but never refused.
limits:
  address: { requests: 1000000000, per: 1m }
  member: { requests: 1000000000, per: 1m }
  client: { requests: 1000000000, per: 1m }
  attempts: { requests: 1000000000, per: 1m }
`,
  );
  const gate = await startProcess(
    process.execPath,
    [...profiled('gate'), here('../../src/main.ts'), 'serve', '--config', file],
    {
      environment: { BENCH_SECRET: randomBytes(32).toString('base64url') },
      ready: /coursegate ready/,
      output: join(home, 'output.log'),
    },
  );
  const tokens = await accessTokens(origin);
  return {
    name,
    port,
    pid: gate.pid,
    tokens,
    async stop() {
      await gate.stop();
      await school.close();
    },
  };
}
