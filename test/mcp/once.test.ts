import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOnce, type Once } from '../../src/mcp/once.ts';
import { MUST_SIGN_IN, type ToolOutcome } from '../../src/mcp/tool.ts';
import { memoryStore } from '../../src/storage/memory/memory-store.ts';
import { memoryCounters } from '../../src/storage/memory-counters.ts';
import { redisStore } from '../../src/storage/redis/redis-store.ts';
import { sqliteStore } from '../../src/storage/sqlite/sqlite-store.ts';
import type { Store } from '../../src/storage/store.ts';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';

const onceOn = (store: Store): Once =>
  createOnce(
    { store, counters: memoryCounters(Date.now), clock: Date.now },
    { window: 600, deadline: 60, keys: 5 },
    (error) => {
      throw error;
    },
  );
const keyed = (key: string) => ({
  member: 'm-1',
  clientId: 'c-1',
  tool: 'enrol',
  key,
  input: { course: 'a' },
  signal: AbortSignal.timeout(120_000),
});

/** Every first read waits until `calls` of them have been answered, so that each has seen that the key is free. */
function allLookFirst(calls: number): (store: Store) => Store {
  let looked = 0;
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return (store) => {
    let first = true;
    return {
      get: async (kind, id) => {
        const found = await store.get(kind, id);
        if (first) {
          first = false;
          expect(found).toBeUndefined();
          looked += 1;
          if (looked === calls) open();
          await opened;
        }
        return found;
      },
      commit: (mutations) => store.commit(mutations),
      findBy: (...asked) => store.findBy(...asked),
      count: (...asked) => store.count(...asked),
      scan: (...asked) => store.scan(...asked),
      sweep: (limit) => store.sweep(limit),
      compact: (limit) => store.compact(limit),
      close: () => store.close(),
    };
  };
}

function doesOnce(open: () => Store): void {
  let stores: [Store, Store];
  beforeAll(() => {
    const one = open();
    stores = [one, open()];
  });
  afterAll(() => Promise.all([...new Set(stores)].map((store) => store.close())));

  it('run one of two calls that both found the key free', async () => {
    const slowed = allLookFirst(2);
    let done = 0;
    const work = async (): Promise<ToolOutcome> => {
      done += 1;
      return { kind: 'value', value: { number: done } };
    };
    const results = await Promise.all(stores.map((store) => onceOn(slowed(store))(keyed('wish-1'), work)));
    expect(done).toBe(1);
    expect(results.map(({ repeated }) => repeated).toSorted()).toEqual([true, undefined]);
    expect(results.map((result) => result.kind === 'value' && result.value)).toEqual([{ number: 1 }, { number: 1 }]);
  });

  it('store nothing for a call that ended with the member’s session', async () => {
    const once = onceOn(stores[0]);
    expect(await once(keyed('wish-2'), async () => MUST_SIGN_IN)).toEqual(MUST_SIGN_IN);
    const again = await onceOn(stores[1])(keyed('wish-2'), async () => ({ kind: 'value', value: 'done' }));
    expect(again).toEqual({ kind: 'value', value: 'done' });
  });
}

describe('idempotency keys in memory', () => {
  const store = memoryStore(Date.now);
  doesOnce(() => store);
});

describe('idempotency keys in a SQLite file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-claims-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  let store: Store | undefined;
  doesOnce(() => {
    store ??= sqliteStore(join(folder, 'coursegate.db'), Date.now);
    return store;
  });
});

describe.skipIf(!redisPresent())('idempotency keys of two replicas, in Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.close());
  doesOnce(() => redisStore({ url: server.url, keyPrefix: 'gate' }, Date.now));
});
