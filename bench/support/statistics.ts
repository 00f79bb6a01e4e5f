/** A median with its 95 % confidence interval. */
export interface Estimate {
  readonly median: number;
  /** NaN if there are fewer than six values, which have no such interval. */
  readonly low: number;
  readonly high: number;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? Number.NaN)
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}

/**
 * The median, and an interval that contains the true one with a probability of at least 95 %, whatever the distribution: from
 * the k-th smallest to the k-th largest value. The number of values below the true median is binomial with p = 0.5, so k is
 * the largest number for which fewer than k are below it in at most 2.5 % of all samples.
 */
export function estimate(values: readonly number[]): Estimate {
  const sorted = values.toSorted((a, b) => a - b);
  const count = sorted.length;
  let [k, below, exactly] = [0, 0, 0.5 ** count];
  while (below + exactly <= 0.025) {
    below += exactly;
    exactly *= (count - k) / (k + 1);
    k += 1;
  }
  const [low = Number.NaN, high = Number.NaN] = [sorted[k - 1], sorted[count - k]];
  return { median: median(values), low, high: k === 0 ? Number.NaN : high };
}

/** The ratio of one round's values, estimated over all rounds. The conditions of a round cancel out in it. */
export function ratio(over: readonly number[] | undefined, under: readonly number[] | undefined): Estimate {
  return estimate((over ?? []).map((value, round) => value / (under?.[round] ?? Number.NaN)));
}

/** The median, with the interval in brackets. */
export function shown({ median: middle, low, high }: Estimate, digits = 1): string {
  if (Number.isNaN(middle)) return '';
  const interval = Number.isNaN(low) ? 'no interval' : `${low.toFixed(digits)}–${high.toFixed(digits)}`;
  return `${middle.toFixed(digits)} (${interval})`;
}
