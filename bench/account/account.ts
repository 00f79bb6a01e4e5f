import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { processorTime } from '../support/cpu.ts';
import { type Goal, goalRows } from '../support/goals.ts';
import { conditions, report, table } from '../support/report.ts';
import { inTurns, type Measured, ratio, spread } from '../support/rounds.ts';
import { type AccountSubject, startAccountUpstream, startGate, startServer } from './account-subjects.ts';
import { attackRows, dearestAttack } from './attacks.ts';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    requests: { type: 'string', default: '1500' },
    'no-report': { type: 'boolean', default: false },
  },
});
const ROUNDS = Number(options.rounds);
/** Requests per subject and round, on LANES keep-alive connections. */
const REQUESTS = Number(options.requests);
const LANES = 8;
const NODES = [1, 20] as const;

const OURS = 'our endpoint';
const WHOLE = 'the whole gate';
const YOGA = 'graphql-yoga, hand-written resolvers';
const STITCH = 'stitchSchemas on graphql-yoga';

const QUERY = `query ($n: Int) { viewer { id email enrolledCourses(first: $n) { nodes {
  slug expireDate hasLifetimeAccess lastWatchedLecture { lectureId positionSeconds } } } } }`;

const say = (line: string) => void process.stderr.write(`${line}\n`);

class Client {
  readonly #pool: Pool;
  readonly #subject: AccountSubject;
  #asked = 0;

  constructor(subject: AccountSubject) {
    this.#subject = subject;
    this.#pool = new Pool(`http://localhost:${subject.port}`, { connections: LANES, connect: { family: 4 } });
  }

  async ask(nodes: number): Promise<string> {
    const { name, tokens } = this.#subject;
    this.#asked += 1;
    const token = tokens[this.#asked % tokens.length];
    const { statusCode, body } = await this.#pool.request({
      method: 'POST',
      path: '/account/graphql',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ query: QUERY, variables: { n: nodes } }),
    });
    const text = await body.text();
    if (statusCode !== 200 || text.includes('"errors"'))
      throw new Error(`${name} responded with ${statusCode}: ${text}`);
    return text;
  }

  /** CPU time per request, in microseconds. */
  async load(nodes: number, requests: number): Promise<number> {
    const before = processorTime([this.#subject.pid]);
    const lane = async () => {
      for (let at = 0; at < requests / LANES; at += 1) await this.ask(nodes);
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    return (processorTime([this.#subject.pid]) - before) / (Math.ceil(requests / LANES) * LANES);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

/** Checks that every subject returns the same data and sends the upstream the same requests. */
async function assertSameWork(clients: ReadonlyMap<string, Client>, upstreamPort: number): Promise<void> {
  const callsNow = async () => {
    const calls = (await (await fetch(`http://127.0.0.1:${upstreamPort}/calls`)).json()) as Record<string, number>;
    return Object.entries(calls)
      .map(([path, count]) => `${count} ${decodeURIComponent(path)}`)
      .filter((line) => !line.endsWith(' /'))
      .sort();
  };
  for (const nodes of NODES) {
    let model: string | undefined;
    for (const [name, client] of clients) {
      await callsNow();
      const data = JSON.parse(await client.ask(nodes)).data;
      // The member's ID is not compared, because the gate takes it from the token of another sign-in.
      const mail = String(data.viewer.email);
      const work = JSON.stringify({ nodes: data.viewer.enrolledCourses.nodes, mail, calls: await callsNow() });
      model ??= work;
      if (work !== model) throw new Error(`${name} does not do the same work:\n${work}\n${model}`);
    }
  }
}

const folder = mkdtempSync(join(tmpdir(), 'coursegate-bench-'));
const at = conditions();
const upstream = await startAccountUpstream(folder);
const subjects: AccountSubject[] = [];
const measured = new Map<number, Measured<number>>();
try {
  const site = { folder, upstreamPort: upstream.port };
  say('starting');
  subjects.push(await startGate(WHOLE, site));
  subjects.push(await startServer(OURS, 'account-endpoint', site));
  subjects.push(await startServer(YOGA, 'account-yoga', site));
  subjects.push(await startServer(STITCH, 'account-stitch', site));
  const clients = new Map(subjects.map((subject) => [subject.name, new Client(subject)]));
  await assertSameWork(clients, upstream.port);
  for (const nodes of NODES) {
    say(`${nodes} node(s)`);
    const one = async ({ name }: AccountSubject) => (await clients.get(name)?.load(nodes, REQUESTS)) ?? Number.NaN;
    measured.set(nodes, await inTurns(subjects, ROUNDS, one, say));
  }
  for (const client of clients.values()) await client.close();
} finally {
  await Promise.allSettled(subjects.map((subject) => subject.stop()));
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
}

const of = (nodes: number, name: string) => measured.get(nodes)?.get(name);
const rows = [WHOLE, OURS, YOGA, STITCH].map((name) => [
  name,
  ...NODES.flatMap((nodes) => [
    spread(of(nodes, name) ?? [], 0),
    name === YOGA || name === STITCH ? ratio(of(nodes, OURS), of(nodes, name)).toFixed(2) : '',
    name === YOGA || name === STITCH ? ratio(of(nodes, WHOLE), of(nodes, name)).toFixed(2) : '',
  ]),
]);
const goals: Goal[] = [OURS, WHOLE].flatMap((ours) =>
  [YOGA, STITCH].flatMap((peer) =>
    NODES.map((nodes) => ({
      what: `${ours} / ${peer}, ${nodes} node${nodes === 1 ? '' : 's'}`,
      most: 0.6,
      unit: ' x',
      measured: ratio(of(nodes, ours), of(nodes, peer)),
    })),
  ),
);
const attacks = attackRows();
goals.push({
  what: 'most expensive attack, cold',
  most: 3,
  unit: ' ms',
  measured: dearestAttack(attacks),
});

const body = `${at}

\`npm run bench:account\`: CPU time that one contract query costs the serving process, in microseconds. Median (minimum–maximum)
of ${ROUNDS} rounds in which the subjects take turns, with ${REQUESTS} queries each on ${LANES} keep-alive connections. All four return the
same data and send the same three calls to the same upstream process, which is checked first: the member, a page of 50 enrolments,
and one batch of positions. Peers: graphql-yoga 5.24.1 with its document cache, \`fetch\`, and a hand-written batch;
@graphql-tools/stitch 10.3.1 over two schemas of the same resolvers; all on graphql 17.1.0. Neither peer checks tokens, limits
requests or signs an identity. "${OURS}" is the fair comparison: it signs and limits, but does not check tokens either.
"${WHOLE}" is \`serve\` over HTTP with 24 real tokens, rate limits and metrics.

${table(
  [
    'subject',
    ...NODES.flatMap((nodes) => [`${nodes} node${nodes === 1 ? '' : 's'}, µs`, `${OURS} / this`, `${WHOLE} / this`]),
  ],
  rows,
)}

The cost of refusing an attack in a process that has served the contract query before: CPU time in milliseconds from the request
body to the refusal, for the first attack of its kind, and the median and maximum of 50 later ones, each with different text to
bypass caches.

${table(['attack', 'KB', 'refused with', 'first', 'median', 'maximum'], attacks)}

${table(['goal', 'at most', 'measured', ''], goalRows(goals))}
`;
if (options['no-report']) process.stdout.write(body);
else report('Account API', body);
