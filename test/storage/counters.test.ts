import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Counters } from '../../src/storage/counters.ts';
import { memoryCounters } from '../../src/storage/memory-counters.ts';
import { countedPlaces, type PlaceLimit } from '../../src/storage/places.ts';
import { connectRedis } from '../../src/storage/redis/connection.ts';
import { redisCounters } from '../../src/storage/redis/counters.ts';
import { createRedisClient } from '../../src/storage/redis/target.ts';
import { sharedCounters } from '../../src/storage/shared-counters.ts';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';

const RATE = { requests: 10, per: 60 };

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heapInUse(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

function add(counters: Counters, key: string, times: number, rate = RATE): number {
  let count = 0;
  for (let at = 0; at < times; at += 1) count = counters.add(key, rate).count;
  return count;
}

describe('counters in memory', () => {
  it('count each key separately, in windows that start with its first event', () => {
    const time = { now: 1_000_000 };
    const counters = memoryCounters(() => time.now);
    expect(add(counters, 'a', 3)).toBe(3);
    expect(counters.peek('a', RATE)).toMatchObject({ count: 3, resetsAt: 1_060_000 });
    expect(counters.peek('b', RATE).count).toBe(0);
    time.now += 59_999;
    expect(add(counters, 'a', 1)).toBe(4);
    time.now += 1;
    expect(counters.peek('a', RATE).count).toBe(0);
    expect(counters.add('a', RATE)).toMatchObject({ count: 1, resetsAt: 1_120_000 });
  });

  it('keep working when the clock is set back', () => {
    const time = { now: 1_000_000_000 };
    const counters = memoryCounters(() => time.now);
    add(counters, 'a', 5);
    time.now -= 3_600_000;
    expect(counters.peek('a', RATE)).toMatchObject({ count: 5, resetsAt: time.now + 60_000 });
    time.now += 60_000;
    expect(counters.add('a', RATE).count).toBe(1);
  });

  it('use little memory even with a million callers', () => {
    const network = (at: number) => `address  2001:db8:${(at >> 16).toString(16)}:${(at & 0xffff).toString(16)}::/64`;
    const before = heapInUse();
    const counters = memoryCounters(Date.now);
    for (let at = 0; at < 1_000_000; at += 1) counters.add(network(at), RATE);
    expect((heapInUse() - before) / 1024 ** 2).toBeLessThan(50);
    expect(counters.peek(network(0), RATE).count).toBe(0);
    expect(counters.peek(network(950_000), RATE).count).toBe(1);
    expect(counters.peek(network(999_999), RATE).count).toBe(1);
  });
});

describe('places', () => {
  it('are taken of every limit or of none, and free themselves unless the attempt counts', async () => {
    const time = { now: 1_000_000 };
    const counters = memoryCounters(() => time.now);
    const places = countedPlaces(counters, () => time.now);
    const address = { key: 'address', rate: { requests: 3, per: 60 } };
    const name = { key: 'name', rate: { requests: 2, per: 30 } };
    const take = async (...limits: readonly PlaceLimit[]) => {
      const got = await places.take(limits);
      return got.kind === 'full' ? got.wait : got.giveBack;
    };
    const [first, second] = [await take(address, name), await take(address, name)];
    expect(await take(address, name)).toBe(1000);
    // None was taken of the address.
    const third = await take(address);
    expect(await take(address)).toBe(1000);
    for (const [giveBack, counts] of [
      [first, false],
      [third, false],
      [second, true],
    ] as const)
      if (typeof giveBack === 'function') giveBack(counts);
    time.now += 1000;
    const fourth = await take(name, address);
    expect(await take(name)).toBe(1000);
    if (typeof fourth === 'function') fourth(true);
    expect(await take(name, address)).toBe(29_000);
    const fifth = await take(address);
    if (typeof fifth === 'function') fifth(true);
    expect(await take(name, address)).toBe(59_000);
    time.now += 59_000;
    expect(typeof (await take(name, address))).toBe('function');
  });
});

describe('shared counters', () => {
  it('adopt the window and count that the other replicas have', async () => {
    const counters = sharedCounters(
      async (_key, count) => ({ count: count + 4, milliseconds: 5_000 }),
      's',
      () => 1_000_000,
    );
    counters.add('a', RATE);
    await new Promise(setImmediate);
    expect(counters.peek('a', RATE)).toMatchObject({ count: 5, resetsAt: 1_005_000 });
  });

  it('retry a failed share after a second, with everything counted since', async () => {
    const time = { now: 1_000_000 };
    const told: number[] = [];
    const share = async (_key: string, count: number) => {
      told.push(count);
      throw new Error('gone');
    };
    const counters = sharedCounters(share, 's', () => time.now);
    for (let at = 0; at < 5; at += 1) {
      counters.add('a', RATE);
      await new Promise(setImmediate);
    }
    expect(told).toEqual([1]);
    time.now += 1_000;
    counters.add('a', RATE);
    expect(told).toEqual([1, 6]);
  });
});

describe.skipIf(!redisPresent())('counters in Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.close());

  const replica = (clock = Date.now) => redisCounters({ url: redis.url, keyPrefix: 'gate' }, 's'.repeat(32), clock);

  it('are counted for all replicas together, without delaying a caller', async () => {
    const [one, two] = [replica(), replica()];
    try {
      expect(add(one, 'm-1', 7)).toBe(7);
      // More than it has added itself: the other shares its first at once, and the rest with its next.
      let own = 0;
      await vi.waitFor(
        () => {
          own += 1;
          expect(add(two, 'm-1', 1) - own).toBeGreaterThanOrEqual(1);
        },
        { timeout: 30_000 },
      );
      await vi.waitFor(
        () => {
          add(one, 'm-1', 1);
          expect(one.peek('m-1', RATE).count).toBeGreaterThan(RATE.requests);
        },
        { timeout: 30_000 },
      );
      await vi.waitFor(() => expect(add(two, 'm-1', 1)).toBeGreaterThan(RATE.requests), { timeout: 30_000 });
    } finally {
      one.close();
      two.close();
    }
  });

  it('end their windows together', async () => {
    const ahead = { now: Date.now() };
    const [one, two] = [replica(), replica(() => ahead.now)];
    try {
      add(one, 'm-2', 5, { requests: 10, per: 20 });
      // More than it has added itself: the other shares its first at once, and the rest with its next.
      let own = 0;
      await vi.waitFor(
        () => {
          own += 1;
          expect(add(two, 'm-2', 1, { requests: 10, per: 20 }) - own).toBeGreaterThanOrEqual(1);
        },
        { timeout: 30_000 },
      );
      ahead.now += 20_001;
      expect(two.peek('m-2', { requests: 10, per: 20 }).count).toBe(0);
    } finally {
      one.close();
      two.close();
    }
  });

  it('share nothing about a caller far below the limit, and store no names', async () => {
    const counters = replica();
    const watcher = connectRedis(createRedisClient({ url: redis.url }));
    try {
      const keys = () => watcher.call((client) => client.keys('*limit*'));
      const before = (await keys()).length;
      add(counters, 'quiet@example.com', 99, { requests: 1000, per: 60 });
      add(counters, 'student@example.com', 1);
      await vi.waitFor(async () => expect(await keys()).toHaveLength(before + 1), { timeout: 30_000 });
      expect((await keys()).join()).not.toContain('example.com');
      const [key = ''] = (await keys()).filter((name) => name.startsWith('{gate}:limit:'));
      expect(await watcher.call((client) => client.pttl(key))).toBeGreaterThan(0);
    } finally {
      counters.close();
      watcher.close();
    }
  });

  it('work separately while Redis is unavailable, and together once it is back', async () => {
    const [one, two] = [replica(), replica()];
    try {
      redis.hang();
      expect(add(one, 'm-3', 25)).toBe(25);
      redis.resume();
      await redis.kill();
      expect(add(one, 'm-4', 6)).toBe(6);
      expect(add(two, 'm-4', 1)).toBe(1);
      await redis.start();
      await vi.waitFor(() => expect(Math.max(add(one, 'm-5', 1), add(two, 'm-5', 1))).toBeGreaterThan(12), {
        timeout: 10_000,
        interval: 300,
      });
      expect(add(two, 'm-5', 1)).toBeGreaterThan(RATE.requests);
    } finally {
      one.close();
      two.close();
    }
  });
});
