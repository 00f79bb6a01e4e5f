import { RateLimiterRedis } from 'rate-limiter-flexible';
import type { Counters } from '../counters.ts';
import { sharedCounters } from '../shared-counters.ts';
import type { Clock } from '../store.ts';
import { connectRedis } from './connection.ts';
import type { RedisOptions } from './redis-store.ts';
import { createRedisClient } from './target.ts';

/** Counts in one Redis for several replicas, on a separate connection, so that no commit waits behind it. */
export function redisCounters(options: RedisOptions, secret: string, clock: Clock): Counters {
  const { client, call, close } = connectRedis(createRedisClient(options));
  // Used only to add up: the callers compare the count with their limit.
  const limiter = new RateLimiterRedis({
    storeClient: client,
    keyPrefix: `{${options.keyPrefix}}:limit`,
    points: Number.MAX_SAFE_INTEGER,
    duration: 1,
  });
  const counters = sharedCounters(
    async (id, count, per) => {
      const all = await call(() => limiter.penalty(id, count, { customDuration: per }));
      return { count: all.consumedPoints, milliseconds: all.msBeforeNext };
    },
    secret,
    clock,
  );
  return { ...counters, close };
}
