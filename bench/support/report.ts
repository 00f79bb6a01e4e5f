import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { GOALS, type GoalName } from './goals.ts';
import { goalRows, type History, withReadings } from './history.ts';

const HERE = fileURLToPath(new URL('..', import.meta.url));
/** BENCH_RESULTS names another file; what belongs to it is beside that one then. */
const RESULTS = process.env.BENCH_RESULTS ?? `${HERE}RESULTS.md`;
const HISTORY = RESULTS.replace(/[^/]*$/, 'history.json');

const HEAD = `# Measured

\`npm run bench\` measures everything within an hour, and writes this page. Figures depend on the machine and its load: compare only
figures of one section.

## Goals

A goal is met if the whole 95 % interval of its last run is within the bound, and missed if the whole interval is beyond it. Otherwise
it is not decided; nor is it if A/A, the same program started twice and measured in turns with the others, differed by more than 5 %, or
if a time was missed while other programs used more than 10 % of the CPUs. A figure that is measured once is judged by its value. The load
is the average of the minute before the run.
[history.json](history.json) keeps the last five runs of each goal; the documentation site draws them here.
`;
/** Where the site draws them. */
export const RUNS = '<!-- runs -->';

/** The conditions of a run. */
export interface Conditions {
  readonly date: string;
  readonly commit: string;
  readonly machine: string;
  readonly load: number;
  /** All of them in a sentence. */
  readonly text: string;
}

/** Read before the work starts, so that the load average is that of other processes. */
export function conditions(): Conditions {
  const processors = cpus();
  const machine = `${processors[0]?.model.trim()}, ${processors.length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB; Node ${process.versions.node}, SQLite ${process.versions.sqlite}`;
  const date = new Date().toISOString().slice(0, 10);
  const commit = commitNow();
  const loads = loadavg().map((value) => value.toFixed(2));
  const text = `${machine}; load average at the start ${loads.join(' ')}; ${date}${commit === '' ? '' : `, ${commit}`}.`;
  return { date, commit, machine, load: Number(loads[0]), text };
}

/** The commit of this checkout, with a plus sign if something of the source was changed; empty outside of a repository. */
function commitNow(): string {
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', HERE, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  try {
    return git('rev-parse', '--short=8', 'HEAD') + (git('status', '--porcelain', '--', '../src') === '' ? '' : '+');
  } catch {
    return '';
  }
}

/** A Markdown table. Rows have as many cells as the heading; columns of numbers are right-aligned. */
export function table(heads: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  const rule = heads.map((_, at) => (typeof rows[0]?.[at] === 'number' ? '---:' : '---'));
  return [line(heads), line(rule), ...rows.map(line)].join('\n');
}

/** The table of these goals with their last runs. */
export function goalTable(history: History, names = Object.keys(GOALS) as GoalName[]): string {
  return table(['goal', 'bound', 'last run', 'A/A', 'when', 'verdict'], goalRows(history, names));
}

/** The page of results with the goals of this history. Sections of benches are unchanged, and sorted by title. */
export function resultsPage(page: string, history: History): string {
  const sections = page.split(/^(?=## )/m).filter((part) => part.startsWith('## ') && !part.startsWith('## Goals\n'));
  return [HEAD, `${goalTable(history)}\n`, `${RUNS}\n`, ...sections.map((part) => `${part.trim()}\n`).toSorted()].join(
    '\n',
  );
}

/** Replaces the section of that title in RESULTS.md, and adds what was measured of goals to the history. */
export function writeSection(title: string, body: string, readings: History = {}): void {
  const before = existsSync(HISTORY) ? (JSON.parse(readFileSync(HISTORY, 'utf8')) as History) : {};
  const history = withReadings(before, readings);
  const page = existsSync(RESULTS) ? readFileSync(RESULTS, 'utf8') : '';
  const others = page.split(/^(?=## )/m).filter((part) => !part.startsWith(`## ${title}\n`));
  const section = `## ${title}\n\n${body.trim()}\n`;
  writeFileSync(RESULTS, resultsPage([...others, section].join(''), history));
  writeFileSync(HISTORY, `${JSON.stringify(history, undefined, 2)}\n`);
}
