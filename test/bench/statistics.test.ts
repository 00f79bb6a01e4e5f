import { describe, expect, it } from 'vitest';
import { estimate, median, ratio, shown } from '../../bench/support/statistics.ts';

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1);

describe('the figures of a bench', () => {
  it.each([
    // The ranks that tables of the binomial distribution give for the median: at most 2.5 % on either side.
    [6, 1, 6],
    [8, 1, 8],
    [9, 2, 8],
    [12, 3, 10],
    [20, 6, 15],
    [30, 10, 21],
  ])('have an interval by rank: of %i values, from number %i to number %i', (count, low, high) => {
    expect(estimate(upTo(count).toReversed())).toEqual({ median: (count + 1) / 2, low, high });
  });

  it('have no interval with fewer than six values', () => {
    expect(estimate([3, 1, 2, 5, 4])).toEqual({ median: 3, low: Number.NaN, high: Number.NaN });
    expect(shown(estimate([3, 1, 2]))).toBe('2.0 (no interval)');
    expect(median([])).toBeNaN();
    expect(shown(estimate([]))).toBe('');
  });

  it('are compared within a round, so that the load of a round cancels out', () => {
    expect(ratio([20, 200, 2000, 20, 200, 2000], [10, 100, 1000, 10, 100, 1000])).toEqual({
      median: 2,
      low: 2,
      high: 2,
    });
  });
});
