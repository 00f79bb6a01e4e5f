import { parseArgs } from 'node:util';
import { mysqlServer, postgresServer } from '../../test/storage/sql/servers.ts';
import { startRedis } from '../../test/support/redis.ts';
import { BENCHES } from '../benches.ts';
import { judge } from '../support/goals.ts';
import { table } from '../support/report.ts';
import { bench, type Findings, OPTIONS, type Run } from '../support/run.ts';
import { estimate, ratio, shown } from '../support/statistics.ts';
import { type ConsoleCost, type Costs, measureInProcess, measureOverHttp } from './store-measures.ts';
import { filledSubjects, type Kind, LANES, SECRET, type Servers, type Subject } from './store-subjects.ts';
import { patternOf } from './stored-tokens.ts';

/** What an operation may cost in the largest store, in terms of its cost in the smallest. */
const GOAL = 1.5;

const { values: options } = parseArgs({ options: OPTIONS });
/**
 * Numbers of connected apps in a store, the smallest first. BENCH_SIZES=1000,1000000 takes 4 to 7 GB of disk or memory, and
 * minutes to fill.
 */
const SIZES = (process.env.BENCH_SIZES ?? '1000,100000').split(',').map(Number);
const ALL: readonly Kind[] = ['sqlite', 'redis', 'postgres', 'mysql'];
/** BENCH_STORES=redis,postgres measures these stores only. Without it, the databases are left out. */
const ASKED = (process.env.BENCH_STORES ?? 'sqlite,redis').split(',');

/** Measures each kind of store with each number of connected apps. The sizes of one kind take turns. */
async function measureStores(
  run: Run,
  kinds: readonly Kind[],
  sizes: readonly number[],
  servers: Servers,
): Promise<Findings> {
  const shape = await patternOf(run.folder, SECRET);
  const texts: string[] = [];
  for (const kind of kinds) {
    const subjects = await filledSubjects(run, kind, sizes, servers, shape);
    try {
      const costs: Costs = new Map();
      await measureInProcess(run, subjects, shape, costs);
      const consoles = await measureOverHttp(run, subjects, costs);
      const text = textOf(subjects, costs, consoles);
      // The next kind takes long, and may fail.
      run.say(`\n${text}\n`);
      texts.push(text);
    } finally {
      for (const { gate } of subjects) await gate.close();
    }
  }
  return { text: `${INTRODUCTION}\n\n${texts.join('\n\n')}`, goals: {} };
}

const INTRODUCTION = `\`npm run bench -- stores\`: one operation in stores with more and fewer connected apps, each with a registration, a member, a grant
that was used, an access token and refresh tokens of its own. CPU time is that of the gate's process, and time is how long one takes,
both in microseconds; refreshes run ${LANES} in parallel, and their time is that between two of them. A ratio is that to the smallest store, and at most
${GOAL} is the goal. The stores are encrypted and durable as in production. The token check and the sweep are measured without a gate. On SQLite,
a sweep writes two pages of indexes for each entry of a large store, because ids are random; in the smallest store, several entries share
a page. It is never more than two. The console is measured once: its first reading of the
store, then a search for the name of one member, in milliseconds, and how much memory the gate used at the peak beyond what it used before.`;

function textOf(subjects: readonly Subject[], costs: Costs, consoles: ReadonlyMap<string, ConsoleCost>): string {
  const [smallest] = subjects;
  const shownOf = subjects.filter(({ twinOf }) => twinOf === undefined);
  const rows = [...costs].flatMap(([what, measured]) =>
    shownOf.map(({ name }) => {
      const values = measured.get(name) ?? [];
      const first = measured.get(smallest?.name ?? '') ?? [];
      const of = (key: 'cpu' | 'time') => {
        const own = values.map((one) => one[key]);
        const compared = ratio(
          own,
          first.map((one) => one[key]),
        );
        const verdict = judge({ most: GOAL }, compared);
        return [
          shown(estimate(own), 0),
          name === smallest?.name ? '' : `${shown(compared, 2)}${verdict === 'met' ? '' : ` **${verdict}**`}`,
        ];
      };
      return [what, name, ...of('cpu'), ...of('time')];
    }),
  );
  const once = [...consoles].map(([name, { reading, search, memory }]) => [
    name,
    ...[reading, search].flatMap(({ cpu, time }) => [cpu.toFixed(0), time.toFixed(0)]),
    memory.toFixed(0),
  ]);
  return `${table(['operation', 'store, connected apps', 'CPU', 'ratio', 'time', 'ratio'], rows)}

${table(['console', 'reading: CPU', 'time', 'search for a name: CPU', 'time', 'peak of memory, MiB'], once)}`;
}

const kinds = ALL.filter((kind) => ASKED.includes(kind));
const { title, rounds } = BENCHES.stores;
const needs = kinds.includes('redis') ? BENCHES.stores.needs : [];
await bench({ title, rounds, needs }, options, async (run) => {
  const servers: Servers = {
    ...(kinds.includes('redis') ? { redis: await startRedis({ appendOnly: true }) } : {}),
    ...(kinds.includes('postgres') ? { postgres: await postgresServer(true) } : {}),
    ...(kinds.includes('mysql') ? { mysql: await mysqlServer(true) } : {}),
  };
  try {
    return await measureStores(run, kinds, SIZES, servers);
  } finally {
    for (const server of Object.values(servers)) await server.close();
  }
});
