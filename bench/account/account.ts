import { parseArgs } from 'node:util';
import { BENCHES } from '../benches.ts';
import { JsonClient } from '../support/client.ts';
import type { Cost } from '../support/load.ts';
import { table } from '../support/report.ts';
import { bench, type Findings, OPTIONS, type Run } from '../support/run.ts';
import { estimate, ratio, shown } from '../support/statistics.ts';
import { type Measured, twin } from '../support/turns.ts';
import { accountQuery } from './account-query.ts';
import { type AccountSubject, startAccountGate, startAccountUpstream, startServer } from './account-subjects.ts';
import { attackRows, dearestAttack } from './attacks.ts';

const { values: options } = parseArgs({ options: OPTIONS });
const NODES = [1, 20] as const;

const OURS = 'our endpoint';
const WHOLE = 'the whole gate';
const YOGA = 'graphql-yoga, hand-written resolvers';
const STITCH = 'stitchSchemas on graphql-yoga';

/** Checks that every subject returns the same data and sends the upstream the same requests. */
async function assertSameWork(clients: ReadonlyMap<string, JsonClient>, upstreamPort: number): Promise<void> {
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
      const data = JSON.parse(await client.ask(accountQuery(nodes))).data;
      // The member's ID is not compared, because the gate takes it from the token of another sign-in.
      const mail = String(data.viewer.email);
      const work = JSON.stringify({ nodes: data.viewer.enrolledCourses.nodes, mail, calls: await callsNow() });
      model ??= work;
      if (work !== model) throw new Error(`${name} does not do the same work:\n${work}\n${model}`);
    }
  }
}

async function measure(run: Run): Promise<ReadonlyMap<number, Measured<Cost>>> {
  const upstream = await startAccountUpstream(run.folder);
  const subjects: AccountSubject[] = [];
  const measured = new Map<number, Measured<Cost>>();
  try {
    const site = { folder: run.folder, upstreamPort: upstream.port };
    run.say('starting');
    subjects.push(await startAccountGate({ name: WHOLE }, site));
    subjects.push(await startAccountGate({ name: twin(WHOLE), twinOf: WHOLE }, site));
    subjects.push(await startServer(OURS, 'account-endpoint', site));
    subjects.push(await startServer(YOGA, 'account-yoga', site));
    subjects.push(await startServer(STITCH, 'account-stitch', site));
    const clients = new Map(subjects.map((subject) => [subject.name, new JsonClient(subject)]));
    await assertSameWork(clients, upstream.port);
    for (const nodes of NODES) {
      const query = accountQuery(nodes);
      measured.set(
        nodes,
        await run.inTurns(`${nodes} node(s)`, subjects, ({ name }) => (clients.get(name) as JsonClient).load(query)),
      );
    }
    for (const client of clients.values()) await client.close();
  } finally {
    await Promise.allSettled(subjects.map((subject) => subject.stop()));
    await upstream.stop();
  }
  return measured;
}

async function account(run: Run): Promise<Findings> {
  const measured = await measure(run);
  const of = (nodes: number, name: string) =>
    measured
      .get(nodes)
      ?.get(name)
      ?.map(({ cpu }) => cpu);
  const rows = [WHOLE, twin(WHOLE), OURS, YOGA, STITCH].map((name) => [
    name,
    ...NODES.flatMap((nodes) => [
      shown(estimate(of(nodes, name) ?? []), 0),
      name === YOGA || name === STITCH ? shown(ratio(of(nodes, OURS), of(nodes, name)), 2) : '',
      name === YOGA || name === STITCH ? shown(ratio(of(nodes, WHOLE), of(nodes, name)), 2) : '',
    ]),
  ]);
  const attacks = attackRows();
  const text = `\`npm run bench -- account\`: CPU time that one contract query costs the serving process, in microseconds, on 8 keep-alive connections.
All return the same data and send the same three calls to the same upstream process, which is checked first: the member, a page of
50 enrolments, and one batch of positions. Peers: graphql-yoga 5.24.1 with its document cache, \`fetch\`, and a hand-written batch;
@graphql-tools/stitch 10.3.1 over two schemas of the same resolvers; all on graphql 17.1.0. Neither peer checks tokens, limits
requests or signs an identity. "${OURS}" is the fair comparison: it signs and limits, but does not check tokens either.
"${WHOLE}" is \`serve\` over HTTP with 24 real tokens, rate limits, metrics and the access log.

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

${table(['attack', 'KB', 'refused with', 'first', 'median', 'maximum'], attacks)}`;
  return {
    text,
    goals: {
      accountOne: ratio(of(1, WHOLE), of(1, YOGA)),
      accountTwenty: ratio(of(20, WHOLE), of(20, YOGA)),
      attack: dearestAttack(attacks),
    },
  };
}

await bench(BENCHES.account, options, account);
