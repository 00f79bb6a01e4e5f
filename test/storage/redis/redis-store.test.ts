import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Quota } from '../../../src/storage/quota.ts';
import { redisStore } from '../../../src/storage/redis/redis-store.ts';
import { type RedisServer, redisPresent, startRedis } from '../../support/redis.ts';
import { oneSchool, rawStoreConformance, storeConformance, testClock } from '../conformance.ts';
import { consume, everyMethod, failInTime, failing, recovering, token } from '../failing-store.ts';

describe.skipIf(!redisPresent())('Redis', () => {
  let server: RedisServer;
  let admin: Redis;
  beforeAll(async () => {
    server = await startRedis();
    admin = new Redis(server.url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
    admin.on('error', () => {});
  });
  afterAll(async () => {
    admin.disconnect();
    await server.close();
  });
  beforeEach(() => admin.flushall());

  const open = (clock: () => number = Date.now, keyPrefix = 'gate') =>
    redisStore({ url: server.url, keyPrefix }, clock);
  const keys = async () => (await admin.keys('*')).toSorted();

  storeConformance('redis', (clock) => open(clock));
  storeConformance('one school in redis', (clock) => oneSchool(open(clock)));
  rawStoreConformance('redis', (clock) => open(clock));

  it('returns 503 in time while it is down, and works again afterwards', async () => {
    const store = open();
    await store.commit([{ op: 'put', entry: token('a') }]);
    await server.kill();
    try {
      await failInTime(() => everyMethod(store));
    } finally {
      await server.start();
    }
    await recovering(store);
    // Redis has lost its cached scripts as well.
    expect(await store.commit([{ op: 'create', entry: token('a') }])).toBe(true);
    await store.close();
  });

  it('fails commands in progress when it goes down', async () => {
    const store = open();
    await store.get('AccessToken', 'a');
    server.hang();
    const waiting = everyMethod(store).map(failing);
    await server.kill();
    try {
      await Promise.all(waiting);
    } finally {
      await server.start();
    }
    await recovering(store);
    await store.close();
  });

  it('returns 503 in time while it hangs, and works again afterwards', async () => {
    const store = open();
    await store.get('AccessToken', 'a');
    server.hang();
    try {
      await failInTime(() => everyMethod(store));
      // Long enough for the connection to time out, and for the next one to hang in its handshake.
      for (let times = 0; times < 4; times += 1) {
        await new Promise((resolve) => setTimeout(resolve, 500));
        await failInTime(() => [store.get('AccessToken', 'a')]);
      }
      const late = open();
      await failInTime(() => [late.get('AccessToken', 'a')]);
      await late.close();
    } finally {
      server.resume();
    }
    await recovering(store);
    await store.close();
  });

  it('does not apply commands later that were sent while it hung', async () => {
    const store = open();
    await store.commit([{ op: 'put', entry: token('a') }]);
    server.hang();
    await failing(store.commit([consume('a')]));
    server.resume();
    await recovering(store);
    expect(await store.commit([consume('a')])).toBe(true);
    await store.close();
  });

  it('fails the first command in time if it was never up', async () => {
    const store = redisStore({ url: 'redis://127.0.0.1:1', keyPrefix: 'gate' }, Date.now);
    await failInTime(() => [store.get('AccessToken', 'a')]);
    await store.close();
  });

  it('returns 503 once the store is closed', async () => {
    const store = open();
    await store.close();
    await failing(store.get('AccessToken', 'a'));
  });

  it('lets one of twenty concurrent callers consume an entry, over two connections', async () => {
    const stores = [open(), open()];
    await stores[0]?.commit([{ op: 'put', entry: token('a') }]);
    const attempts = await Promise.all(Array.from({ length: 20 }, (_, at) => stores[at % 2]?.commit([consume('a')])));
    expect(attempts.filter((won) => won)).toHaveLength(1);
    for (const store of stores) await store.close();
  });

  it('names its keys and fields as earlier versions did', async () => {
    const clock = testClock();
    const store = open(clock.now);
    const quota: Quota = { name: 'q', total: 1e6, perClient: 1e6, perNetwork: 1e6, whenFull: 'evict' };
    const charge = { quota, network: 'n', wider: 'w', client: 'c' };
    const references = { grant: 'g', member: 'm', client: 'c', uid: 'u' };
    const entry = { ...token('a', { expiresAt: 2_000_000_000, references }), charge };
    for (const _ of [1, 2]) await store.commit([{ op: 'put', entry }]);
    const fields = ['payload', 'expiresAt', 'revision', 'grant', 'member', 'client', 'uid'];
    expect(await admin.hmget('{gate}:entry:AccessToken:a', ...fields)).toEqual([
      entry.payload,
      '2000000000',
      '2',
      'g',
      'm',
      'c',
      'u',
    ]);
    expect(await admin.hmget('{gate}:charge:AccessToken:a', 'quota', 'network', 'wider', 'client')).toEqual([
      'q',
      'n',
      'w',
      'c',
    ]);
    const indexes = Object.entries(references).map(([name, value]) => `{gate}:index:AccessToken:${name}:${value}`);
    expect(await keys()).toEqual(expect.arrayContaining(['{gate}:expiry', ...indexes]));
    await store.close();
  });

  it('scans its own keys, whatever characters its prefix has', async () => {
    for (const keyPrefix of ['g*te', 'g?te', 'g[a]te', 'g[^b]te', 'g\\\\ate', 'g[a-b]te']) {
      const [own, other] = [open(Date.now, keyPrefix), open()];
      await own.commit([{ op: 'put', entry: token('own') }]);
      await other.commit([{ op: 'put', entry: token('other') }]);
      const { entries } = await own.scan(['AccessToken'], undefined, 100);
      expect(
        entries.map(({ id }) => id),
        keyPrefix,
      ).toEqual(['own']);
      await own.close();
      await other.close();
    }
  });

  it('keeps no keys of deleted or swept entries', async () => {
    const clock = testClock();
    const store = open(clock.now);
    const expiresAt = clock.now() / 1000 + 60;
    const references = { grant: 'g', member: 'm', client: 'c', uid: 'u' };
    await store.commit([
      { op: 'put', entry: token('a', { expiresAt, references }) },
      { op: 'put', entry: token('b', { references }) },
    ]);
    expect(await keys()).toHaveLength(7);
    await store.commit([{ op: 'delete', kind: 'AccessToken', id: 'b' }]);
    clock.advance(60);
    expect(await store.sweep(10)).toBe(1);
    expect(await keys()).toEqual([]);
    await store.close();
  });

  it('updates the indexes of an entry whose references change', async () => {
    const store = open();
    await store.commit([{ op: 'put', entry: token('a', { references: { grant: 'g', member: 'm' } }) }]);
    await store.commit([{ op: 'put', entry: token('a', { references: { grant: 'h' } }) }]);
    expect(await keys()).toEqual(['{gate}:entry:AccessToken:a', '{gate}:index:AccessToken:grant:h']);
    await store.close();
  });

  it('expires entries that no sweep reaches, and an index together with its last member', async () => {
    const clock = testClock();
    const store = open(clock.now);
    const put = (id: string, seconds: number | undefined) => {
      const expiresAt = seconds === undefined ? undefined : clock.now() / 1000 + seconds;
      return store.commit([{ op: 'put', entry: token(id, { expiresAt, references: { grant: 'g' } }) }]);
    };
    const INDEX = '{gate}:index:AccessToken:grant:g';
    const secondsLeft = async (key: string) => Math.round((await admin.pttl(key)) / 1000);
    await put('a', 100);
    expect(await secondsLeft('{gate}:entry:AccessToken:a')).toBe(160);
    expect(await secondsLeft(INDEX)).toBe(160);
    await put('b', 500);
    await put('c', 50);
    expect(await secondsLeft(INDEX)).toBe(560);
    await put('d', undefined);
    expect(await admin.pttl(INDEX)).toBe(-1);
    await store.commit([{ op: 'delete', kind: 'AccessToken', id: 'd' }]);
    expect(await secondsLeft(INDEX)).toBe(560);
    await store.close();
  });

  it('removes entries that Redis expired from an index, on reads and writes', async () => {
    const clock = testClock();
    const store = open(clock.now);
    const put = (id: string, expiresAt?: number) =>
      store.commit([{ op: 'put', entry: token(id, { expiresAt, references: { grant: 'g' } }) }]);
    const members = () => admin.zrange('{gate}:index:AccessToken:grant:g', '0', '-1');
    await put('eternal');
    await put('read', clock.now() / 1000 + 100);
    await put('written', clock.now() / 1000 + 10);
    await admin.del('{gate}:entry:AccessToken:read', '{gate}:entry:AccessToken:written');
    clock.advance(99);
    expect((await store.findBy('AccessToken', 'grant', 'g')).map(({ id }) => id)).toEqual(['eternal']);
    expect(await members()).toEqual(['written', 'eternal']);
    await put('another');
    expect(await members()).toEqual(['another', 'eternal']);
    await store.close();
  });

  it('finds at most the requested number of entries, and all without a limit', async () => {
    const store = open();
    const entries = Array.from({ length: 350 }, (_, at) => token(`t${at}`, { references: { client: 'c' } }));
    await store.commit(entries.map((entry) => ({ op: 'put', entry })));
    expect(await store.findBy('AccessToken', 'client', 'c', 120)).toHaveLength(120);
    expect(new Set((await store.findBy('AccessToken', 'client', 'c')).map(({ id }) => id)).size).toBe(350);
    await store.close();
  });

  it('separates two prefixes', async () => {
    const [one, other] = [open(Date.now, 'one'), open(Date.now, 'other')];
    await one.commit([{ op: 'put', entry: token('a', { references: { grant: 'g' } }) }]);
    expect(await other.get('AccessToken', 'a')).toBeUndefined();
    expect(await other.findBy('AccessToken', 'grant', 'g')).toEqual([]);
    await other.commit([{ op: 'deleteBy', kind: 'AccessToken', name: 'grant', value: 'g' }]);
    expect(await one.get('AccessToken', 'a')).toBeDefined();
    expect((await keys()).every((key) => key.startsWith('{one}:'))).toBe(true);
    await one.close();
    await other.close();
  });
});
