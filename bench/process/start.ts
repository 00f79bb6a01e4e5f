import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { THIS_TREE } from '../support/gate.ts';
import { table } from '../support/report.ts';
import { bench, type Findings, OPTIONS, type Run } from '../support/run.ts';
import { estimate, ratio, shown } from '../support/statistics.ts';
import { checkOut, hasCommit, type Tree } from '../support/tree.ts';
import { type Named, twin } from '../support/turns.ts';
import { startOnce } from './gate-start.ts';

const { values: options } = parseArgs({
  options: {
    ...OPTIONS,
    /** The commit that the goal is relative to: the last one before the work on the start. */
    base: { type: 'string', default: '0ea5301' },
  },
});

interface Way extends Named {
  readonly tree: string;
  readonly environment: Readonly<Record<string, string>>;
}

const DEFAULT = 'default settings';
const CACHED = 'with NODE_COMPILE_CACHE';

async function measure(run: Run, base: Tree | undefined): Promise<Findings> {
  const before = `${options.base}, default settings`;
  const ways: Way[] = [
    { name: DEFAULT, tree: THIS_TREE, environment: {} },
    { name: twin(DEFAULT), twinOf: DEFAULT, tree: THIS_TREE, environment: {} },
    { name: CACHED, tree: THIS_TREE, environment: { NODE_COMPILE_CACHE: join(run.folder, 'compiled') } },
    ...(base === undefined ? [] : [{ name: before, tree: base.path, environment: {} }]),
  ];
  // The warm-up reads from disk and fills the cache.
  const measured = await run.inTurns('start, CPU', ways, ({ tree, environment }) =>
    startOnce(tree, run.folder, environment),
  );
  const walls = (name: string) => measured.get(name)?.map(({ wall }) => wall) ?? [];
  run.pair(`${DEFAULT}: start, time`, walls(DEFAULT), walls(twin(DEFAULT)));
  const rows = [...measured].map(([name, starts]) => [
    name,
    shown(estimate(walls(name)), 0),
    shown(ratio(walls(name), walls(DEFAULT)), 2),
    shown(estimate(starts.map(({ cpu }) => cpu)), 0),
  ]);
  const text = `\`npm run bench:start\`: \`serve\` with the demo's configuration (Account API, tools, embedded store), from the spawn to the line
"coursegate ready", each time with a new store.

${table(['start', 'time, ms', `x ${DEFAULT}`, 'CPU time, ms'], rows)}`;
  return { text, goals: { start: base === undefined ? undefined : ratio(walls(DEFAULT), walls(before)) } };
}

await bench('Start', 12, options, async (run) => {
  const base = hasCommit(options.base) ? checkOut(options.base, run.folder) : undefined;
  if (base === undefined) run.say(`MISSING: ${options.base} is not in this clone, so nothing is compared with it`);
  try {
    return await measure(run, base);
  } finally {
    base?.remove();
  }
});
