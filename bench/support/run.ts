import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { busyShare } from './cpu.ts';
import { goalRows, type Measurements } from './goals.ts';
import { objections, type Pair } from './quiet.ts';
import { conditions, table, writeSection } from './report.ts';
import { ratio, shown } from './statistics.ts';
import { inTurns, type Measured, type Named } from './turns.ts';

/** Options of every bench, for `parseArgs`. */
export const OPTIONS = {
  /** Slices of about a second that each subject is measured in. */
  rounds: { type: 'string' },
  /** A sentence for the report. */
  note: { type: 'string' },
  'no-report': { type: 'boolean' },
} as const;

interface RunOptions {
  readonly rounds?: string | undefined;
  readonly note?: string | undefined;
  readonly 'no-report'?: boolean | undefined;
}

/** One run of a bench. */
export interface Run {
  /** Removed at the end. */
  readonly folder: string;
  readonly rounds: number;
  /** Prints a line of progress. */
  say(line: string): void;
  /**
   * Measures subjects in turn, in all rounds of the run or in some of them. If one is a second start of another, the CPU times of
   * the two are compared. `what` names the measurement.
   */
  inTurns<S extends Named, T extends { readonly cpu: number }>(
    what: string,
    subjects: readonly S[],
    measure: (subject: S, warming: boolean) => Promise<T>,
    rounds?: number,
  ): Promise<Measured<T>>;
  /** Compares values of the same subject started twice, together with earlier ones of that name. */
  pair(what: string, values: readonly number[], again: readonly number[]): void;
  /** Why the figures may not be published so far: a busy machine, or a pair that differs. */
  objections(): readonly string[];
  /** The pairs so far, as a Markdown table. */
  pairTable(): string;
}

/** How long the bench waits to see what other processes use, in seconds. */
const LOOK = 2;

/** Runs work with a new run, and removes its folder at the end. */
export async function withRun<T>(rounds: number, work: (run: Run) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-bench-'));
  const started = performance.now();
  const twice = new Map<string, { values: readonly number[]; again: readonly number[] }>();
  const pairs = () => [...twice].map(([what, { values, again }]): Pair => ({ what, ratio: ratio(again, values) }));
  const busy: number[] = [];
  const run: Run = {
    folder,
    rounds,
    say(line) {
      const seconds = Math.round((performance.now() - started) / 1000);
      process.stderr.write(`${String(seconds).padStart(4)} s  ${line}\n`);
    },
    async inTurns(what, subjects, measure, some = rounds) {
      run.say(what);
      busy.push(await busyShare(LOOK));
      const measured = await inTurns(subjects, some, measure);
      busy.push(await busyShare(LOOK));
      const cpuOf = (name: string) => measured.get(name)?.map(({ cpu }) => cpu) ?? [];
      for (const { name, twinOf } of subjects) {
        if (twinOf !== undefined) run.pair(`${twinOf}: ${what}`, cpuOf(twinOf), cpuOf(name));
      }
      return measured;
    },
    pair(what, values, again) {
      const earlier = twice.get(what);
      twice.set(what, {
        values: [...(earlier?.values ?? []), ...values],
        again: [...(earlier?.again ?? []), ...again],
      });
    },
    objections: () => objections(pairs(), busy),
    pairTable: () =>
      table(
        ['started twice', 'second / first'],
        pairs().map((one) => [one.what, shown(one.ratio, 3)]),
      ),
  };
  try {
    return await work(run);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What a bench has measured. */
export interface Findings {
  /** Markdown: how it was measured, and the tables. */
  readonly text: string;
  readonly goals: Measurements;
  /** Why it is not a whole section; undefined if it is. */
  readonly partial?: string | undefined;
}

/**
 * Runs a bench and prints its section: the conditions, the text, the pairs and the goals. The section replaces the one of that
 * title in RESULTS.md, unless the machine was too busy: then it says why not, and the exit code is 1.
 */
export async function bench(
  title: string,
  defaultRounds: number,
  options: RunOptions,
  work: (run: Run) => Promise<Findings>,
): Promise<void> {
  const at = conditions();
  await withRun(Number(options.rounds ?? defaultRounds), async (run) => {
    const { text, goals, partial } = await work(run);
    const body = [
      `${at}${options.note === undefined ? '' : ` ${options.note}`}`,
      `${text.trim()}\n\nFigures are medians, with their 95 % confidence intervals in brackets, of ${run.rounds} slices in which the subjects take turns.`,
      run.pairTable(),
      ...(Object.keys(goals).length === 0 ? [] : [table(['goal', 'bound', 'measured', ''], goalRows(goals))]),
    ].join('\n\n');
    process.stdout.write(`\n## ${title}\n\n${body}\n`);
    if (options['no-report']) return;
    const against = [...run.objections(), ...(partial === undefined ? [] : [partial])];
    if (against.length === 0) return void writeSection(title, body);
    process.stdout.write(`\nNot written to RESULTS.md:\n${against.map((line) => `- ${line}\n`).join('')}`);
    process.exitCode = 1;
  });
}
