import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildBundle } from '../../packaging/bundle/bundle.ts';
import { buildDist } from '../../packaging/npm/compile.ts';
import { SEMI_SPACE } from '../../src/commands/heap-limits.ts';
import { BENCHES } from '../benches.ts';
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
  /** Written into a file; undefined for the demo's configuration. */
  readonly config?: string;
  /** The arguments of Node; `src/main.ts` of the tree if omitted. */
  readonly program?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** The least that a gate needs: a site and how its members are identified, without the Account API and tools. */
const SMALL = `version: 1
profile: B
origin: http://localhost:8080
listen: { port: 0, admin: { port: 0 } }
store: { kind: sqlite, path: data/gate.db }
login: { kind: session, upstream: school, whoami: { path: /api/me }, loginUrl: /login, cookies: [school_session] }
upstreams: { school: { url: http://127.0.0.1:9 } }
site: { upstream: school }
`;
const UNCACHED = { NODE_DISABLE_COMPILE_CACHE: '1' };
const FIRST = 'first start';
const LATER = 'later starts, with the compile cache';
const BUNDLE = 'bundle, first start';
const BUNDLE_LATER = 'bundle, later starts';
const COMPILED = 'compiled, as in the npm package, first start';
const SMALL_FIRST = 'minimal configuration, first start';
const SMALL_LATER = 'minimal configuration, later starts';

async function measure(run: Run, base: Tree | undefined): Promise<Findings> {
  const before = options.base;
  const smallBefore = `minimal configuration, ${options.base}`;
  const small = join(run.folder, 'small.yaml');
  writeFileSync(small, SMALL);
  await buildDist();
  await buildBundle({ out: join(run.folder, 'bundle') });
  // As `npm start` and the image start them. The program of the npm package starts Node again.
  const bundle = [SEMI_SPACE, join(run.folder, 'bundle/lib/coursegate.cjs')];
  const sources = [SEMI_SPACE, join(THIS_TREE, 'bin/coursegate.js')];
  const ways: Way[] = [
    { name: FIRST, tree: THIS_TREE, program: sources, environment: UNCACHED },
    { name: twin(FIRST), twinOf: FIRST, tree: THIS_TREE, program: sources, environment: UNCACHED },
    { name: BUNDLE, tree: THIS_TREE, program: bundle, environment: UNCACHED },
    { name: BUNDLE_LATER, tree: THIS_TREE, program: bundle },
    { name: COMPILED, tree: THIS_TREE, program: [join(THIS_TREE, 'dist/main.js')], environment: UNCACHED },
    { name: LATER, tree: THIS_TREE, program: sources },
    { name: SMALL_FIRST, tree: THIS_TREE, program: sources, config: small, environment: UNCACHED },
    { name: SMALL_LATER, tree: THIS_TREE, program: sources, config: small },
    ...(base === undefined
      ? []
      : [
          { name: before, tree: base.path },
          { name: smallBefore, tree: base.path, config: small },
        ]),
  ];
  // The warm-up reads from disk and fills the cache.
  const measured = await run.inTurns('start, CPU', ways, ({ tree, config, environment, program }) =>
    startOnce(tree, run.folder, environment, config, program),
  );
  const walls = (name: string) => measured.get(name)?.map(({ wall }) => wall) ?? [];
  run.pair(`${FIRST}: time`, walls(FIRST), walls(twin(FIRST)));
  const rows = [...measured].map(([name, starts]) => [
    name,
    shown(estimate(walls(name)), 0),
    shown(ratio(walls(name), walls(name.startsWith('minimal') ? smallBefore : before)), 2),
    name.startsWith('minimal') ? '' : shown(ratio(walls(name), walls(FIRST)), 2),
    shown(estimate(starts.map(({ cpu }) => cpu)), 0),
  ]);
  const text = `\`npm run bench -- start\`: \`serve\` with the demo's configuration (Account API, tools, embedded store) and with a minimal one, from
the spawn to the line "coursegate ready", each time with a new store. A first start has no compiled code. Sources are started
as by \`npm start\` and the bundle as in the image: with a limit of the young generation on Node's command line.

${table(['start', 'time, ms', `x ${options.base}, same configuration`, 'x first start', 'CPU time, ms'], rows)}`;
  const goal = (name: string) => (base === undefined ? undefined : ratio(walls(name), walls(before)));
  return { text, goals: { start: goal(FIRST), restart: goal(LATER), bundle: estimate(walls(BUNDLE)) } };
}

await bench(BENCHES.start, options, async (run) => {
  const base = hasCommit(options.base) ? checkOut(options.base, run.folder) : undefined;
  if (base === undefined) run.say(`MISSING: ${options.base} is not in this clone, so nothing is compared with it`);
  try {
    return await measure(run, base);
  } finally {
    base?.remove();
  }
});
