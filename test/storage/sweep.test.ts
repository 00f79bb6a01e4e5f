import { describe, expect, it } from 'vitest';
import { sweepAll } from '../../src/storage/sweep.ts';

/** A store with so many expired entries, that tells when it is asked. */
function expired(count: number) {
  let left = count;
  const asked: number[] = [];
  return {
    asked,
    async sweep(limit: number) {
      const batch = Math.min(limit, left);
      left -= batch;
      asked.push(batch);
      return batch;
    },
  };
}

describe('a sweep', () => {
  it.each([
    [0, [0]],
    [99, [99]],
    [100, [100, 0]],
    [241, [100, 100, 41]],
  ])('of %i goes on until a batch comes back short', async (count, batches) => {
    const store = expired(count);
    expect(await sweepAll(store, () => false)).toBe(count);
    expect(store.asked).toEqual(batches);
  });

  it('lets others go first between two batches', async () => {
    const store = expired(1000);
    const seen: number[] = [];
    setImmediate(() => seen.push(store.asked.length));
    await sweepAll(store, () => false);
    expect(seen[0]).toBeLessThan(store.asked.length);
  });

  it('ends early when it is told to', async () => {
    const store = expired(100_000);
    expect(await sweepAll(store, () => store.asked.length === 3)).toBe(300);
  });
});
