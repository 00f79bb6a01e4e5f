import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { processorTime } from '../support/cpu.ts';
import { type Goal, goalRows } from '../support/goals.ts';
import { conditions, report, table } from '../support/report.ts';
import { inTurns, type Measured, ratio, spread } from '../support/rounds.ts';
import { type McpSubject, startMcpGate, startMcpServer, startMcpUpstream } from './mcp-subjects.ts';
import { RESULT, TOOLS } from './mcp-tools.ts';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    requests: { type: 'string', default: '1500' },
    note: { type: 'string', default: '' },
    'no-report': { type: 'boolean', default: false },
  },
});
const ROUNDS = Number(options.rounds);
/** Requests per subject and round, on LANES keep-alive connections. */
const REQUESTS = Number(options.requests);
const LANES = 8;

const OURS = 'our endpoint';
const WHOLE = 'the whole gate';
const DOCUMENTED = 'SDK, McpServer as documented';
const LOW = 'SDK, Server with constants';
const ASKING = 'SDK as documented, tool calls the school with fetch';

const VERSION = '2026-07-28';
const META = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
};
const CALL = { name: 'search_courses', arguments: {} };

const modern = (method: string, params: { name?: string }) => ({
  headers: {
    'mcp-protocol-version': VERSION,
    'mcp-method': method,
    ...(params.name === undefined ? {} : { 'mcp-name': params.name }),
  },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: META } }),
});
const legacy = (method: string, params: object) => ({
  headers: { 'mcp-protocol-version': '2025-11-25' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
});
const WORK = {
  'tools/list, 2026-07-28': modern('tools/list', {}),
  'tools/call, 2026-07-28': modern('tools/call', CALL),
  'tools/list, 2025-11-25': legacy('tools/list', {}),
  'tools/call, 2025-11-25': legacy('tools/call', CALL),
} as const;
type Work = keyof typeof WORK;
const WORKS = Object.keys(WORK) as Work[];

const say = (line: string) => void process.stderr.write(`${line}\n`);

class Client {
  readonly #pool: Pool;
  readonly #subject: McpSubject;
  #asked = 0;

  constructor(subject: McpSubject) {
    this.#subject = subject;
    this.#pool = new Pool(`http://localhost:${subject.port}`, { connections: LANES, connect: { family: 4 } });
  }

  async ask(work: Work): Promise<string> {
    const { name, tokens } = this.#subject;
    this.#asked += 1;
    const token = tokens[this.#asked % tokens.length];
    const { statusCode, body } = await this.#pool.request({
      method: 'POST',
      path: '/mcp',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...WORK[work].headers,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: WORK[work].body,
    });
    const text = await body.text();
    if (statusCode !== 200 || text.includes('"isError"'))
      throw new Error(`${name} responded with ${statusCode}: ${text}`);
    return text;
  }

  /** CPU time per request, in microseconds. */
  async load(work: Work): Promise<number> {
    const before = processorTime([this.#subject.pid]);
    const lane = async () => {
      for (let at = 0; at < REQUESTS / LANES; at += 1) await this.ask(work);
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    return (processorTime([this.#subject.pid]) - before) / (Math.ceil(REQUESTS / LANES) * LANES);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

/** Checks that every subject lists the same tools and returns the same result. */
async function assertSameWork(clients: ReadonlyMap<string, Client>): Promise<void> {
  const names = JSON.stringify(TOOLS.map(({ name, input, output }) => [name, input?.properties, output?.properties]));
  for (const [name, client] of clients) {
    for (const work of WORKS) {
      const text = await client.ask(work);
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

const folder = mkdtempSync(join(tmpdir(), 'coursegate-bench-'));
const at = conditions();
const upstream = await startMcpUpstream(folder);
const subjects: McpSubject[] = [];
const measured = new Map<Work, Measured<number>>();
try {
  const site = { folder, upstreamPort: upstream.port };
  say('starting');
  subjects.push(await startMcpGate(WHOLE, site));
  subjects.push(await startMcpServer(OURS, ['mcp-endpoint', ''], site));
  subjects.push(await startMcpServer(DOCUMENTED, ['mcp-sdk', 'documented'], site));
  subjects.push(await startMcpServer(LOW, ['mcp-sdk', 'low-level'], site));
  subjects.push(await startMcpServer(ASKING, ['mcp-sdk', 'upstream'], site));
  const clients = new Map(subjects.map((subject) => [subject.name, new Client(subject)]));
  await assertSameWork(clients);
  for (const work of WORKS) {
    say(work);
    const one = async ({ name }: McpSubject) => (await clients.get(name)?.load(work)) ?? Number.NaN;
    measured.set(work, await inTurns(subjects, ROUNDS, one, say));
  }
  for (const client of clients.values()) await client.close();
} finally {
  await Promise.allSettled(subjects.map((subject) => subject.stop()));
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
}

const of = (work: Work, name: string) => measured.get(work)?.get(name);
const rows = [WHOLE, OURS, DOCUMENTED, LOW, ASKING].map((name) => [
  name,
  ...WORKS.flatMap((work) => [spread(of(work, name) ?? [], 0), ratio(of(work, name), of(work, DOCUMENTED)).toFixed(2)]),
]);
const goals: Goal[] = WORKS.flatMap((work) => [
  {
    what: `${OURS} / ${DOCUMENTED}: ${work}`,
    most: 1.3,
    unit: ' x',
    measured: ratio(of(work, OURS), of(work, DOCUMENTED)),
  },
  {
    what: `${WHOLE} / ${work.startsWith('tools/call') ? ASKING : DOCUMENTED}: ${work}`,
    most: 1.3,
    unit: ' x',
    measured: ratio(of(work, WHOLE), of(work, work.startsWith('tools/call') ? ASKING : DOCUMENTED)),
  },
]);

const body = `${at}${options.note === '' ? '' : ` ${options.note}`}

\`npm run bench:mcp\`: CPU time that one request costs the serving process, in microseconds. Median (minimum–maximum) of ${ROUNDS} rounds
in which the subjects take turns, with ${REQUESTS} requests each on ${LANES} keep-alive connections, and the median of each round's ratio to the
SDK as documented. All list the same ${TOOLS.length} tools with the same schemas and return the same ${JSON.stringify(RESULT).length} bytes for
\`search_courses\`, which is checked first. Peers: @modelcontextprotocol/server 2.4.0 behind node:http, without tokens, limits,
checks of Host and Origin, or an audit log; schemas are compiled once. "${DOCUMENTED}" creates an McpServer for each request
and returns a constant result, validated against its output schema. "${LOW}" returns constants and validates nothing; it is
the lower bound for this SDK. "${OURS}" does everything the product does for a call (HTTP checks, arguments, mapping, cleaning, size
limit, output schema, an audit line) on the same upstream response in memory, but does not check tokens or count limits. "${WHOLE}"
is \`serve\` over HTTP with 24 real tokens, limits, metrics, the audit log, and a real call to the school for \`tools/call\`, so
its goal is relative to the SDK whose tool calls the school as well.

${table(['subject', ...WORKS.flatMap((work) => [`${work}, µs`, `to ${DOCUMENTED.split(',')[0]}`])], rows)}

${table(['goal', 'at most', 'measured', ''], goalRows(goals))}
`;
if (options['no-report']) process.stdout.write(body);
else report('MCP', body);
