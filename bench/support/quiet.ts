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
const MOST_BUSY = 0.1;

/** Why the figures of a run may not be published; empty if they may. */
export function objections(pairs: readonly Pair[], busy: readonly number[]): readonly string[] {
  const most = Math.max(...busy);
  return [
    ...(pairs.length === 0 ? ['no subject was started twice, so the error of the measurement is unknown'] : []),
    ...pairs.flatMap(objectionTo),
    ...(most > MOST_BUSY
      ? [`other processes use ${Math.round(most * 100)} % of the CPUs; at most ${MOST_BUSY * 100} % are allowed`]
      : []),
  ];
}

function objectionTo({ what, ratio }: Pair): readonly string[] {
  const { median, low, high } = ratio;
  const figures = `A/A of ${what} is ${shown(ratio, 3)}`;
  if (!(median <= MOST_APART && median >= 1 / MOST_APART)) return [`${figures}: more than 5 % apart`];
  if (Number.isNaN(low)) return [`${figures}: too few rounds`];
  return high <= WIDEST && low >= 1 / WIDEST ? [] : [`${figures}: too uncertain, its interval reaches beyond 10 %`];
}
