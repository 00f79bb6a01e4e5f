import { afterAll, beforeAll } from 'vitest';
import { memoryStore } from '../../../../src/storage/memory/memory-store.ts';
import { redisStore } from '../../../../src/storage/redis/redis-store.ts';
import type { RawStore } from '../../../../src/storage/store.ts';
import { type RedisServer, redisPresent, startRedis } from '../../../support/redis.ts';

/** The stores that differ in how they are scanned, by name: SQLite in memory, and Redis where there is one. */
export function scannedStores(keyPrefix: string): readonly (readonly [name: string, make: () => RawStore])[] {
  const sqlite = ['sqlite', () => memoryStore(Date.now)] as const;
  if (!redisPresent()) return [sqlite];
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.close());
  return [sqlite, ['redis', () => redisStore({ url: redis.url, keyPrefix }, Date.now)]];
}
