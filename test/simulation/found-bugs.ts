import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { PLANTED_BUGS, type PlantedBug } from './planted-bugs.ts';

/** One search: which schedule broke which promise, and how many schedules that took. */
export interface Found {
  /** Undefined if no schedule broke one. */
  readonly seed?: number;
  readonly promise?: string;
  readonly schedules: number;
}

/** What is recorded of a bug: the first seed from 1 on that finds it, and the mean number of schedules of some searches. */
export interface Recorded {
  readonly seed: number;
  readonly promise: string;
  readonly mean: number;
  readonly searches: number;
  /** How many of them ended without: the mean is more than that. */
  readonly missed: number;
}

const RECORD = fileURLToPath(new URL('planted-bugs.json', import.meta.url));
const SEARCH = fileURLToPath(new URL('search-planted.ts', import.meta.url));
const [BEGIN, END] = ['<!-- planted bugs: written by npm run test:planted -->', '<!-- end of planted bugs -->'];

export function recorded(): Readonly<Record<string, Recorded>> {
  return JSON.parse(readFileSync(RECORD, 'utf8')) as Record<string, Recorded>;
}

export function record(all: Readonly<Record<string, Recorded>>): void {
  const sorted = Object.fromEntries(PLANTED_BUGS.flatMap(({ name }) => (all[name] ? [[name, all[name]]] : [])));
  writeFileSync(RECORD, `${JSON.stringify(sorted, null, 2)}\n`);
}

/**
 * Searches for a planted bug in a process of its own, once from each of these seeds. Throws if that process fails.
 * @param name - of the bug; `none`: the code as it is
 * @param most - schedules of one search
 */
export async function searchFor(
  name: PlantedBug['name'],
  most: number,
  starts: readonly number[],
): Promise<readonly Found[]> {
  const child = spawn(process.execPath, [SEARCH, name, String(most), ...starts.map(String)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const [output, complaints] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if ((await ended) !== 0) throw new Error(`the search for ${name} failed:\n${complaints}`);
  return output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Found);
}

/** At most two at a time: each keeps a processor busy. */
export async function twoAtATime<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const queue = [...all];
  const next = async (): Promise<void> => {
    for (let one = queue.shift(); one !== undefined; one = queue.shift()) await work(one);
  };
  await Promise.all([next(), next()]);
}

/** docs/proof.md with its table of planted bugs. */
export function withPlantedBugs(page: string, all: Readonly<Record<string, Recorded>>): string {
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error(`the page has no place for the table: ${BEGIN}`);
  const rows = PLANTED_BUGS.map(({ name, what, breaks, model }) => {
    const found = all[name];
    if (found === undefined)
      return `| ${what} | \`${breaks}\` | ${model === undefined ? 'nothing yet' : 'the model'} | |`;
    const as = found.promise === breaks ? '' : ` as \`${found.promise}\``;
    const schedules = `${found.missed > 0 ? 'over ' : ''}${found.mean}${found.searches > 1 ? '' : ', one search'}`;
    return `| ${what} | \`${breaks}\` | seed ${found.seed}${as} | ${schedules} |`;
  });
  const table = ['| Planted bug | Breaks | Found by | Schedules |', '| --- | --- | --- | --- |', ...rows].join('\n');
  return `${before}${BEGIN}\n\n${table}\n\n${END}${after}`;
}
