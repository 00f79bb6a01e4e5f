import { describe, expect, it } from 'vitest';
import { sweepAll } from '../../src/storage/sweep.ts';

/** A store with this many expired entries, where a batch takes `fixed` milliseconds plus `each` per entry. */
function expired(count: number, { fixed = 0, each = 0.1 } = {}) {
  let left = count;
  let time = 0;
  const batches: { size: number; took: number; rested: number }[] = [];
  return {
    batches,
    /** Changes the time per entry. */
    slowDown(milliseconds: number) {
      each = milliseconds;
    },
    pace: {
      now: () => time,
      async rest(milliseconds: number) {
        const last = batches.at(-1);
        if (last !== undefined) last.rested = milliseconds;
      },
    },
    async compact() {
      return 0;
    },
    async sweep(limit: number) {
      const size = Math.min(limit, left);
      left -= size;
      const took = fixed + size * each;
      time += took;
      batches.push({ size, took, rested: 0 });
      return size;
    },
  };
}

describe('a sweep of expired entries', () => {
  it.each([0, 1, 49, 50, 51, 241, 10_000])('deletes %i, and stops after a batch that is not full', async (count) => {
    const store = expired(count);
    expect(await sweepAll(store, () => false, store.pace)).toBe(count);
    expect(store.batches.reduce((sum, { size }) => sum + size, 0)).toBe(count);
  });

  it.each([
    ['quick', { each: 0.02 }],
    ['of this kind', { each: 0.1 }],
    ['slow', { each: 0.8 }],
    ['slow to sync', { fixed: 4, each: 0.1 }],
  ])('takes about ten milliseconds for a batch on a disk that is %s', async (_name, disk) => {
    const store = expired(20_000, disk);
    await sweepAll(store, () => false, store.pace);
    const settled = store.batches.slice(10, -1);
    expect(settled.length).toBeGreaterThan(20);
    for (const { took } of settled) expect(took).toBeCloseTo(10, -1);
    expect(Math.max(...settled.map(({ took }) => took))).toBeLessThan(20);
  });

  it('shrinks its batches at once when they become slow, within limits', async () => {
    const store = expired(100_000, { each: 0.0001 });
    await sweepAll(
      store,
      () => {
        if (store.batches.length === 20) store.slowDown(20);
        return store.batches.length === 30;
      },
      store.pace,
    );
    const sizes = store.batches.map(({ size }) => size);
    // One quick batch does not predict the next.
    for (let at = 1; at < sizes.length; at += 1) expect(sizes[at]).toBeLessThanOrEqual(2 * (sizes[at - 1] ?? 0));
    expect(sizes[19]).toBe(1000);
    expect(sizes[21]).toBe(10);
    expect(Math.min(...sizes)).toBe(10);
  });

  it('pauses for as long as it has worked', async () => {
    const store = expired(5000);
    await sweepAll(store, () => false, store.pace);
    for (const { took, rested } of store.batches.slice(0, -1)) expect(rested).toBeCloseTo(took);
  });

  it('lets other work run between two batches', async () => {
    const store = expired(1000);
    const seen: number[] = [];
    setImmediate(() => seen.push(store.batches.length));
    await sweepAll(store, () => false);
    expect(seen[0]).toBeLessThan(store.batches.length);
  });

  it('stops early on request', async () => {
    const store = expired(100_000);
    await sweepAll(store, () => store.batches.length === 3, store.pace);
    expect(store.batches).toHaveLength(3);
  });
});
