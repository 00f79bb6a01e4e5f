import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bench } from '../benches.ts';
import { busyShare } from './cpu.ts';
import { GOALS, type Goal, type GoalName, type Measurements } from './goals.ts';
import { type History, stored } from './history.ts';
import { objections, type Pair } from './quiet.ts';
import { type Conditions, conditions, goalTable, table, writeSection } from './report.ts';
import { type Estimate, ratio, shown } from './statistics.ts';
import { missingTools } from './tools.ts';
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
  /** What speaks against the figures so far: a busy machine, or a pair that differs. */
  objections(): readonly string[];
  pairs(): readonly Pair[];
  /** Sees what other processes use. `inTurns` does so itself. */
  look(): Promise<void>;
  /** The largest share of the CPUs that other processes used so far. */
  busy(): number;
  /** The pairs so far, and the objections, in Markdown. */
  quality(): string;
}

/** How long the bench waits to see what other processes use, in seconds. */
const LOOK = 2;

/** Runs work with a new run, and removes its folder at the end. Throws if the bench needs what is not installed. */
export async function withRun<T>(
  bench: Pick<Bench, 'rounds' | 'needs'>,
  options: RunOptions,
  work: (run: Run) => Promise<T>,
): Promise<T> {
  const missing = missingTools(bench.needs);
  if (missing !== undefined) throw new Error(missing);
  const rounds = Number(options.rounds ?? bench.rounds);
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
    look: async () => void busy.push(await busyShare(LOOK)),
    async inTurns(what, subjects, measure, some = rounds) {
      run.say(what);
      await run.look();
      const measured = await inTurns(subjects, some, measure);
      await run.look();
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
    pairs,
    objections: () => objections(pairs(), busy),
    busy: () => Math.max(0, ...busy),
    quality() {
      const rows = pairs().map((one) => [one.what, shown(one.ratio, 3)]);
      const against = run.objections().map((line) => `- ${line}`);
      return [
        ...(rows.length === 0 ? [] : [table(['started twice', 'second / first'], rows)]),
        ...(against.length === 0 ? [] : [`What speaks against these figures:\n\n${against.join('\n')}`]),
      ].join('\n\n');
    },
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

/** Runs a bench, prints its section with the goals, and writes both to RESULTS.md, whatever speaks against the figures. */
export async function bench(
  { title, ...plan }: Pick<Bench, 'title' | 'rounds' | 'needs'>,
  options: RunOptions,
  work: (run: Run) => Promise<Findings>,
): Promise<void> {
  const at = conditions();
  await withRun(plan, options, async (run) => {
    const { text, goals, partial } = await work(run);
    const body = [
      `${at.text}${options.note === undefined ? '' : ` ${options.note}`}`,
      text.trim(),
      ...(run.pairs().length === 0
        ? []
        : [
            `Figures are medians, with their 95 % confidence intervals in brackets, of ${run.rounds} slices in which the subjects take turns.`,
          ]),
      run.quality(),
    ];
    const readings = readingsOf(goals, at, run);
    const measured = Object.keys(goals) as GoalName[];
    const judged = measured.length === 0 ? '' : `\n${goalTable(readings, measured)}\n`;
    const section = body.filter((part) => part !== '').join('\n\n');
    process.stdout.write(`\n## ${title}\n\n${section}\n${judged}`);
    if (options['no-report']) return;
    if (partial === undefined) writeSection(title, section, readings);
    else process.stdout.write(`\nNot written to RESULTS.md: ${partial}.\n`);
  });
}

/** What was measured, with the conditions and the pair of each goal. */
function readingsOf(goals: Measurements, { date, commit, machine, load }: Conditions, run: Run): History {
  const measured = Object.entries(goals).flatMap(([name, value]): [GoalName, Estimate | number][] =>
    value === undefined || Number.isNaN(typeof value === 'number' ? value : value.median)
      ? []
      : [[name as GoalName, value]],
  );
  const busy = Number(run.busy().toFixed(2));
  return Object.fromEntries(
    measured.map(([name, value]) => {
      const goal: Goal = GOALS[name];
      const pair = run.pairs().find(({ what }) => what === goal.pair);
      const aa = pair === undefined ? {} : { pair: stored(pair.ratio) };
      return [name, [{ date, commit, machine, load, busy, ...stored(value), ...aa }]];
    }),
  );
}
