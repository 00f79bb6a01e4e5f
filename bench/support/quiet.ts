import { type Estimate, shown } from './statistics.ts';

/** The same subject started twice, and how far apart the two were measured. */
export interface Pair {
  readonly what: string;
  readonly ratio: Estimate;
}

/** A pair may differ by 5 %, and its interval may reach to 10 %. Beyond that, the differences between subjects mean nothing. */
const MOST_APART = 1.05;
const WIDEST = 1.1;
/** The share of the CPUs that other processes may use while the bench waits. */
export const MOST_BUSY = 0.1;

/** What speaks against the figures of a run; empty if nothing does. They are published with it. */
export function objections(pairs: readonly Pair[], busy: readonly number[]): readonly string[] {
  const most = Math.max(...busy);
  return [
    ...pairs.flatMap(({ what, ratio }) => {
      const objection = objectionTo(ratio);
      return objection === undefined ? [] : [`A/A of ${what} is ${shown(ratio, 3)}: ${objection}`];
    }),
    ...(most > MOST_BUSY ? [`other processes used up to ${Math.round(most * 100)} % of the CPUs`] : []),
  ];
}

/** Why two starts of the same subject differ too much; undefined if they do not. */
export function objectionTo({ median, low, high }: Estimate): string | undefined {
  if (!(median <= MOST_APART && median >= 1 / MOST_APART)) return 'more than 5 % apart';
  if (Number.isNaN(low)) return 'too few rounds';
  return high <= WIDEST && low >= 1 / WIDEST ? undefined : 'its interval reaches beyond 10 %';
}
