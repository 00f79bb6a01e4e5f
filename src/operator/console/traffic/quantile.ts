import { BOUNDS } from '../../../operations/latency-histogram.ts';

/** The longest duration that the buckets tell apart, in seconds. */
export const LONGEST = BOUNDS[BOUNDS.length - 1] as number;

/**
 * The duration in seconds that this part of the requests (0 to 1) did not exceed, interpolated within its bucket, as
 * Prometheus does it. Infinity if it exceeds all bounds; undefined if there are no requests.
 */
export function quantile(counts: readonly number[], part: number): number | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  let left = part * total;
  for (const [at, count] of counts.entries()) {
    const [from, to] = [BOUNDS[at - 1] ?? 0, BOUNDS[at]];
    if (count > 0 && left <= count)
      return to === undefined ? Number.POSITIVE_INFINITY : from + (to - from) * (left / count);
    left -= count;
  }
  return Number.POSITIVE_INFINITY;
}
