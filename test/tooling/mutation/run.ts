import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { applied, type Mutant, mutantsOf, sampleOf } from './mutants.ts';
import { type Ranking, rankTests } from './rank.ts';

const HELP = `npm run test:mutation -- [--count 100] [--seed 1] [--files 40] [--again]

Changes one line of src at a time and runs the tests that can see it, two at a time.
  --count    how many mutants
  --seed     which lines: the same seed chooses the same lines, also after other lines have changed
  --files    how many test files at most run for one mutant, the likeliest first
  --again    runs those that survived again
Results are kept in ${tmpdir()}/coursegate-mutation: an interrupted run continues where it was.`;

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: process.env.COURSEGATE_MUTANTS ?? '100' },
    seed: { type: 'string', default: process.env.COURSEGATE_MUTATION_SEED ?? '1' },
    files: { type: 'string', default: '40' },
    again: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

interface Result extends Mutant {
  /** The first test file that failed or did not end. `tsc`: does not compile and does not count. Undefined: survived. */
  readonly killedBy: string | undefined;
  readonly ran: number;
  readonly of: number;
}

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const LANES = 2;
/** Seconds without a finished test file, after which the current one counts as not ending. */
const HANGS = 150;
const COPIED = /^(?!.*\/(node_modules|artefacts|\.git)(\/|$))/;

async function main(): Promise<void> {
  if (values.help) return console.log(HELP);
  const sources = globSync('src/**/*.ts', { cwd: ROOT, exclude: ['src/operator/demo/**', 'src/**/*.d.ts'] }).toSorted();
  const tests = globSync('test/**/*.test.ts', { cwd: ROOT, exclude: ['**/node_modules'] }).toSorted();
  const hash = createHash('sha256');
  for (const file of sources) hash.update(readFileSync(join(ROOT, file)));
  const folder = join(tmpdir(), 'coursegate-mutation');
  const log = join(folder, `${hash.digest('hex').slice(0, 12)}-${values.seed}.jsonl`);
  mkdirSync(folder, { recursive: true });

  const all = await mutantsOf(ROOT, sources);
  const sample = sampleOf(all, lineOf, Number(values.seed));
  const known = new Map(existsSync(log) ? resultsIn(log).map((result) => [placeOf(result), result]) : []);
  if (values.again) for (const [place, { killedBy }] of known) if (killedBy === undefined) known.delete(place);
  console.log(`${all.length} mutants of ${sources.length} files. Results: ${log}`);

  const ranking = rankTests(ROOT, tests);
  const red = new Map<string, boolean>();
  const counted: Result[] = [];
  let next = 0;
  let running = 0;
  const work = async (lane: number) => {
    const tree = copyOfTree(join(folder, `tree-${process.pid}-${lane}`));
    process.once('exit', () => rmSync(tree, { recursive: true, force: true }));
    const clean = await typeErrors(tree);
    while (counted.length + running < Number(values.count)) {
      const mutant = sample[next];
      if (mutant === undefined) return;
      next += 1;
      running += 1;
      const before = known.get(placeOf(mutant));
      const result = before ?? (await tried(tree, clean, mutant, ranking, red));
      running -= 1;
      if (before === undefined) appendFileSync(log, `${JSON.stringify(result)}\n`);
      if (result.killedBy === 'tsc') continue;
      counted.push(result);
      console.log(described(result));
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, lane) => work(lane)));
  report(counted);
}

const placeOf = ({ file, start, end, replacement }: Mutant) => JSON.stringify([file, start, end, replacement]);

const texts = new Map<string, readonly string[]>();
function lineOf({ file, line }: Mutant): string {
  const lines = texts.get(file) ?? readFileSync(join(ROOT, file), 'utf8').split('\n');
  texts.set(file, lines);
  return lines[line - 1]?.trim() ?? '';
}

function resultsIn(log: string): readonly Result[] {
  return readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Result);
}

function copyOfTree(tree: string): string {
  rmSync(tree, { recursive: true, force: true });
  cpSync(ROOT, tree, { recursive: true, filter: (path) => COPIED.test(path.slice(ROOT.length - 1)) });
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
  const options = { noEmit: true, incremental: true, tsBuildInfoFile: './src.tsbuildinfo' };
  const types = { extends: './tsconfig.json', compilerOptions: options, include: ['src'] };
  writeFileSync(join(tree, 'tsconfig.src.json'), JSON.stringify(types));
  return tree;
}

/** Runs the tests on a tree with the mutant, until one fails that passes without it. */
async function tried(
  tree: string,
  clean: string,
  mutant: Mutant,
  ranking: Ranking,
  red: Map<string, boolean>,
): Promise<Result> {
  const path = join(tree, mutant.file);
  const before = readFileSync(path, 'utf8');
  const mutated = applied(before, mutant);
  const result = { ...mutant, ran: 0, of: 0 };
  if (mutated === undefined) return { ...result, killedBy: 'tsc' };
  writeFileSync(path, mutated);
  if ((await typeErrors(tree)) !== clean) {
    writeFileSync(path, before);
    return { ...result, killedBy: 'tsc' };
  }
  const all = ranking.testsFor(mutant.file, mutant.line).filter((test) => red.get(test) !== true);
  const of = all.length;
  let left = all.slice(0, Number(values.files));
  let ran = 0;
  while (left.length > 0) {
    writeFileSync(path, mutated);
    const { failed, passed } = await run(tree, left).finally(() => writeFileSync(path, before));
    ran += passed.length;
    if (failed === undefined) break;
    if (!red.has(failed)) {
      red.set(failed, (await run(tree, [failed])).failed !== undefined);
    }
    if (red.get(failed) === false) {
      // A test that fails once, on a machine under load, has not found the mutant.
      writeFileSync(path, mutated);
      const again = await run(tree, [failed]).finally(() => writeFileSync(path, before));
      if (again.failed !== undefined) return { ...mutant, killedBy: failed, ran, of };
    }
    console.log(`${failed} fails without any mutant, or only now and then, and is left out.`);
    left = left.filter((test) => test !== failed && !passed.includes(test));
  }
  return { ...mutant, killedBy: undefined, ran, of };
}

/** The errors of `tsc` for `src` alone. There are a few, because the tests provide some types of dependencies. */
async function typeErrors(tree: string): Promise<string> {
  const tsc = spawn(process.execPath, [join(tree, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.src.json'], {
    cwd: tree,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return text(tsc.stdout);
}

interface Run {
  /** The first test file that failed or did not end. */
  readonly failed: string | undefined;
  readonly passed: readonly string[];
}

function run(tree: string, tests: readonly string[]): Promise<Run> {
  const vitest = [
    join(tree, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--config',
    'test/tooling/mutation/vitest.config.ts',
  ];
  const child = spawn(process.execPath, vitest, {
    cwd: tree,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, COURSEGATE_MUTATION_TESTS: JSON.stringify(tests) },
  });
  const passed: string[] = [];
  let failed: string | undefined;
  let heard = performance.now();
  let read = '';
  const end = () => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    } catch {}
  };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (read + chunk).split('\n');
    read = lines.pop() ?? '';
    for (const line of lines) {
      const [, state, file] = /^@ (\w+) (\S+)$/.exec(line) ?? [];
      if (file === undefined) continue;
      heard = performance.now();
      if (state !== 'failed') passed.push(file);
      else {
        failed ??= file;
        end();
      }
    }
  });
  process.once('exit', end);
  const timer = setInterval(() => {
    const now = performance.now();
    if (now - heard > HANGS * 1000) failed ??= tests.find((test) => !passed.includes(test));
    if (failed !== undefined) end();
  }, 500);
  return new Promise((resolve) => {
    child.once('close', (code) => {
      clearInterval(timer);
      process.off('exit', end);
      // An uncaught error belongs to the file that ended last.
      if (code === 1) failed ??= passed.at(-1) ?? tests[0];
      end();
      resolve({ failed, passed });
    });
  });
}

function described({ file, line, operator, replacement, killedBy, ran, of }: Result): string {
  const change = `${file}:${line} ${operator} → ${replacement.replace(/\s+/g, ' ').slice(0, 60)}`;
  if (killedBy !== undefined) return `killed   ${change}\n         by ${killedBy}`;
  return `SURVIVED ${change}\n         ${ran} of the ${of} test files that can see it ran`;
}

function report(results: readonly Result[]): void {
  const survived = results.filter(({ killedBy }) => killedBy === undefined);
  const killed = results.length - survived.length;
  console.log(`\n${survived.map(described).join('\n')}`);
  const rate = results.length === 0 ? 0 : (killed / results.length) * 100;
  console.log(`${killed} of ${results.length} mutants killed: ${rate.toFixed(1)} %`);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
await main();
