import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonServer } from '../support/client.ts';
import { ACCOUNT_AND_TOOLS, startGate } from '../support/gate.ts';
import { freePort, startProcess } from '../support/processes.ts';
import type { Named } from '../support/turns.ts';
import { writeTools } from './mcp-tools.ts';

/** A running server with the same tools. */
export interface McpSubject extends JsonServer, Named {
  stop(): Promise<void>;
}

interface Site {
  readonly folder: string;
  readonly upstreamPort: number;
}

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** With BENCH_PROFILE=folder, a CPU profile of each subject is written to that folder. */
function profiled(name: string): string[] {
  const folder = process.env.BENCH_PROFILE;
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${join(folder, name)}`];
}

export async function startMcpUpstream(folder: string) {
  const port = await freePort();
  const started = await startProcess(process.execPath, [here('./mcp-upstream.ts')], {
    environment: { PORT: String(port) },
    port,
    output: join(folder, 'upstream.log'),
  });
  return { port, stop: started.stop };
}

/** Starts one of the servers that do not check tokens. */
export async function startMcpServer(
  name: string,
  [server, how]: readonly ['mcp-endpoint' | 'mcp-sdk', string],
  { folder, upstreamPort }: Site,
): Promise<McpSubject> {
  const port = await freePort();
  const started = await startProcess(process.execPath, [...profiled(`${server}-${how}`), here(`${server}.ts`)], {
    environment: {
      PORT: String(port),
      MCP_SDK: how,
      TOOLS: writeTools(folder),
      UPSTREAM: `http://127.0.0.1:${upstreamPort}`,
      NODE_ENV: 'production',
    },
    port,
    output: join(folder, `${server}-${how}.log`),
  });
  return { name, port, roots: [started.pid], tokens: [], stop: started.stop };
}

/** Starts the product. */
export async function startMcpGate(named: Named, { folder, upstreamPort }: Site): Promise<McpSubject> {
  const url = `http://127.0.0.1:${upstreamPort}`;
  const gate = await startGate({
    folder,
    upstreams: { school: url, progress: url, events: url },
    more: `log: { access: false }\n${ACCOUNT_AND_TOOLS().replace(/^mcp: .*$/m, `mcp: { file: ${writeTools(folder)} }`)}`,
  });
  return { ...named, port: gate.port, roots: [gate.pid], tokens: gate.tokens, stop: gate.stop };
}
