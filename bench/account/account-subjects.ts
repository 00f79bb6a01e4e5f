import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonServer } from '../support/client.ts';
import { startGate } from '../support/gate.ts';
import { freePort, startProcess } from '../support/processes.ts';
import type { Named } from '../support/turns.ts';

/** A running server of the Account API's contract. */
export interface AccountSubject extends JsonServer, Named {
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
  return { name, port, roots: [started.pid], tokens: [], stop: started.stop };
}

/** Starts the product. */
export async function startAccountGate(named: Named, { folder, upstreamPort }: Site): Promise<AccountSubject> {
  const url = `http://127.0.0.1:${upstreamPort}`;
  const gate = await startGate({
    folder,
    upstreams: { school: url, progress: url },
    more: `account:
  schema: ${here('../../test/account/fixtures/courses.graphql')}
  mappings: ${here('../../test/account/fixtures/courses.map.graphql')}
  config: { currency: EUR }
`,
  });
  return { ...named, port: gate.port, roots: [gate.pid], tokens: gate.tokens, stop: gate.stop };
}
