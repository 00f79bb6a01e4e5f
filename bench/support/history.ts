import { boundOf, GOALS, type Goal, type GoalName, judge, type Verdict } from './goals.ts';
import { MOST_BUSY, objectionTo } from './quiet.ts';
import { type Estimate, shown } from './statistics.ts';

/** Numbers as they are stored. Without an interval, there is only the median; null is without limit. */
interface StoredEstimate {
  readonly median: number | null;
  readonly low?: number | null;
  readonly high?: number | null;
}

/** What one run measured of a goal. */
export interface Reading extends StoredEstimate {
  readonly date: string;
  readonly commit: string;
  readonly machine: string;
  /** The load average of the minute before the run, and the largest share of the CPUs that other processes used meanwhile. */
  readonly load: number;
  readonly busy: number;
  /** A/A: second / first start of the same subject. */
  readonly pair?: StoredEstimate;
}

/** history.json: the last runs of each goal, the oldest first. */
export type History = Partial<Record<GoalName, readonly Reading[]>>;

/** Runs of each goal that are kept. */
const KEPT = 5;

export function withReadings(history: History, readings: History): History {
  const kept = (name: GoalName) => [...(history[name] ?? []), ...(readings[name] ?? [])].slice(-KEPT);
  const names = (Object.keys(GOALS) as GoalName[]).filter((name) => kept(name).length > 0);
  return Object.fromEntries(names.map((name) => [name, kept(name)]));
}

/** Four digits of each number. */
export function stored(figure: Estimate | number): StoredEstimate {
  const { median, low, high } =
    typeof figure === 'number' ? { median: figure, low: Number.NaN, high: Number.NaN } : figure;
  const digits = (value: number) => (Number.isFinite(value) ? Number(value.toPrecision(4)) : null);
  return Number.isNaN(low)
    ? { median: digits(median) }
    : { median: digits(median), low: digits(low), high: digits(high) };
}

export function restored({ median, low, high }: StoredEstimate): Estimate {
  const value = (one: number | null | undefined) => (one === null ? Number.POSITIVE_INFINITY : (one ?? Number.NaN));
  return { median: value(median), low: value(low), high: value(high) };
}

interface Judged {
  readonly verdict: Verdict;
  /** Why it is not decided, or that there is only one value. */
  readonly because?: string;
}

const SLOWED: ReadonlySet<string> = new Set([' µs', ' ms', ' s', ' per s']);

/** Judges a run, if the same subject started twice gave the same figures. */
export function judged(goal: Goal, reading: Reading): Judged {
  const figure = restored(reading);
  const single = goal.pair === undefined;
  const verdict = judge(goal, single ? figure.median : figure);
  // Others on the machine make times longer, not shorter. Ratios are safe from them, and so are counts and memory.
  if (verdict === 'missed' && SLOWED.has(goal.unit) && reading.busy > MOST_BUSY)
    return { verdict: 'not decided', because: `others used ${Math.round(reading.busy * 100)} % of the CPUs` };
  if (single) return { verdict, because: 'by a single value' };
  const objection = reading.pair === undefined ? 'not measured' : objectionTo(restored(reading.pair));
  return objection === undefined ? { verdict } : { verdict: 'not decided', because: `A/A: ${objection}` };
}

/** A figure with its unit and interval. */
export function figureOf({ unit }: Goal, reading: StoredEstimate): string {
  const { median, low, high } = restored(reading);
  const digits = unit === '' || median >= 100 ? 0 : 2;
  const interval = Number.isNaN(low) ? '' : ` (${low.toFixed(digits)}–${high.toFixed(digits)})`;
  return `${median.toFixed(digits)}${unit}${interval}`.replaceAll('Infinity', '∞');
}

/** The A/A of a run as text; empty if there is none. */
export const pairOf = ({ pair }: Reading): string => (pair === undefined ? '' : shown(restored(pair), 2));

const verdictOf = ({ verdict, because }: Judged): string =>
  `${verdict === 'met' ? verdict : `**${verdict}**`}${because === undefined ? '' : `, ${because}`}`;

/** Rows of a table: goal, bound, last run, A/A, when, and the verdict. */
export function goalRows(history: History, names: readonly GoalName[]): string[][] {
  return names.map((name) => {
    const goal: Goal = GOALS[name];
    const reading = history[name]?.at(-1);
    if (reading === undefined) return [goal.what, boundOf(goal), '', '', '', 'not measured'];
    const { date, commit, load } = reading;
    const when = `${date}, ${commit}, load ${load}`;
    return [goal.what, boundOf(goal), figureOf(goal, reading), pairOf(reading), when, verdictOf(judged(goal, reading))];
  });
}
