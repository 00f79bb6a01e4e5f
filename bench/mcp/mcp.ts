import { parseArgs } from 'node:util';
import { BENCHES } from '../benches.ts';
import { JsonClient } from '../support/client.ts';
import type { Cost } from '../support/load.ts';
import { table } from '../support/report.ts';
import { bench, type Findings, OPTIONS, type Run } from '../support/run.ts';
import { estimate, ratio, shown } from '../support/statistics.ts';
import { type Measured, twin } from '../support/turns.ts';
import { MCP_REQUESTS } from './mcp-request.ts';
import { type McpSubject, startMcpGate, startMcpServer, startMcpUpstream } from './mcp-subjects.ts';
import { RESULT, TOOLS } from './mcp-tools.ts';

const { values: options } = parseArgs({ options: OPTIONS });

const OURS = 'our endpoint';
const WHOLE = 'the whole gate';
const DOCUMENTED = 'SDK, McpServer as documented';
const LOW = 'SDK, Server with constants';
const ASKING = 'SDK as documented, tool calls the school with fetch';

type Work = keyof typeof MCP_REQUESTS;
const WORKS = Object.keys(MCP_REQUESTS) as Work[];

/** Checks that every subject lists the same tools and returns the same result. */
async function assertSameWork(clients: ReadonlyMap<string, JsonClient>): Promise<void> {
  const names = JSON.stringify(TOOLS.map(({ name, input, output }) => [name, input?.properties, output?.properties]));
  for (const [name, client] of clients) {
    for (const work of WORKS) {
      const text = await client.ask(MCP_REQUESTS[work]);
      // For clients of 2025-11-25, the SDK sends the response as a server-sent event.
      const { result } = JSON.parse(text.startsWith('{') ? text : text.slice(text.indexOf('data: ') + 6));
      const given = work.startsWith('tools/list')
        ? JSON.stringify(
            result.tools.map((tool: Record<string, { properties?: object }>) => [
              tool.name,
              Object.keys(tool.inputSchema?.properties ?? {}).length === 0 ? undefined : tool.inputSchema?.properties,
              tool.outputSchema?.properties,
            ]),
          )
        : JSON.stringify(result.structuredContent);
      const wanted = work.startsWith('tools/list') ? names : JSON.stringify(RESULT);
      if (given !== wanted) throw new Error(`${name} does not do the same work, ${work}:\n${given}\n${wanted}`);
    }
  }
}

async function measure(run: Run): Promise<ReadonlyMap<Work, Measured<Cost>>> {
  const upstream = await startMcpUpstream(run.folder);
  const subjects: McpSubject[] = [];
  const measured = new Map<Work, Measured<Cost>>();
  try {
    const site = { folder: run.folder, upstreamPort: upstream.port };
    run.say('starting');
    subjects.push(await startMcpGate({ name: WHOLE }, site));
    subjects.push(await startMcpGate({ name: twin(WHOLE), twinOf: WHOLE }, site));
    subjects.push(await startMcpServer(OURS, ['mcp-endpoint', ''], site));
    subjects.push(await startMcpServer(DOCUMENTED, ['mcp-sdk', 'documented'], site));
    subjects.push(await startMcpServer(LOW, ['mcp-sdk', 'low-level'], site));
    subjects.push(await startMcpServer(ASKING, ['mcp-sdk', 'upstream'], site));
    const clients = new Map(subjects.map((subject) => [subject.name, new JsonClient(subject)]));
    await assertSameWork(clients);
    for (const work of WORKS) {
      const request = MCP_REQUESTS[work];
      measured.set(
        work,
        await run.inTurns(work, subjects, ({ name }) => (clients.get(name) as JsonClient).load(request)),
      );
    }
    for (const client of clients.values()) await client.close();
  } finally {
    await Promise.allSettled(subjects.map((subject) => subject.stop()));
    await upstream.stop();
  }
  return measured;
}

async function mcp(run: Run): Promise<Findings> {
  const measured = await measure(run);
  const of = (work: Work, name: string) =>
    measured
      .get(work)
      ?.get(name)
      ?.map(({ cpu }) => cpu);
  const rows = [WHOLE, twin(WHOLE), OURS, DOCUMENTED, LOW, ASKING].map((name) => [
    name,
    ...WORKS.flatMap((work) => [
      shown(estimate(of(work, name) ?? []), 0),
      shown(ratio(of(work, name), of(work, DOCUMENTED)), 2),
    ]),
  ]);
  const call: Work = 'tools/call, 2026-07-28';
  const text = `\`npm run bench -- mcp\`: CPU time that one request costs the serving process, in microseconds, on 8 keep-alive connections, and the
ratio to the SDK as documented. All list the same ${TOOLS.length} tools with the same schemas and return the same ${JSON.stringify(RESULT).length} bytes for
\`search_courses\`, which is checked first. Peers: @modelcontextprotocol/server 2.4.0 behind node:http, without tokens, limits,
checks of Host and Origin, or an audit log; schemas are compiled once. "${DOCUMENTED}" creates an McpServer for each request
and returns a constant result, validated against its output schema. "${LOW}" returns constants and validates nothing; it is
the lower bound for this SDK. "${OURS}" does everything the product does for a call (HTTP checks, arguments, mapping, cleaning, size
limit, output schema, an audit line) on the same upstream response in memory, but does not check tokens or count limits. "${WHOLE}"
is \`serve\` over HTTP with 24 real tokens, limits, metrics, the audit log, and a real call to the school for \`tools/call\`, so
its goal is relative to the SDK whose tool calls the school as well.

${table(['subject', ...WORKS.flatMap((work) => [`${work}, µs`, `to ${DOCUMENTED.split(',')[0]}`])], rows)}`;
  return {
    text,
    goals: {
      mcpEndpoint: ratio(of(call, OURS), of(call, DOCUMENTED)),
      mcpGate: ratio(of(call, WHOLE), of(call, ASKING)),
    },
  };
}

await bench(BENCHES.mcp, options, mcp);
