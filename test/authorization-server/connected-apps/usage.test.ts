import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { adapterFactory } from '../../../src/authorization-server/adapter.ts';
import { createUsage, type Usage } from '../../../src/authorization-server/connected-apps/usage.ts';
import { storedGrants } from '../../../src/authorization-server/grants.ts';
import { GatewayError } from '../../../src/errors.ts';
import { NO_OUTBOX } from '../../../src/events/outbox.ts';
import { memoryStore } from '../../../src/storage/memory/memory-store.ts';
import { redisStore } from '../../../src/storage/redis/redis-store.ts';
import { sealedStore } from '../../../src/storage/seal.ts';
import { sqliteStore } from '../../../src/storage/sqlite/sqlite-store.ts';
import type { Mutation, Store } from '../../../src/storage/store.ts';
import { type RedisServer, redisPresent, startRedis } from '../../support/redis.ts';
import { TEST_TOKENS } from '../../support/refresh-tokens.ts';

const WHY = { by: 'operator', reason: 'grant_revoked' } as const;

const START = Date.UTC(2026, 5, 1, 12);
const DAY = 86_400_000;
const ANN = { sub: 'ann', grantId: 'g1' };

let now = START;
const clock = () => now;
const seconds = () => Math.floor(now / 1000);

const folder = mkdtempSync(join(tmpdir(), 'coursegate-usage-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let made = 0;
let redis: RedisServer | undefined;
const present = redisPresent();
beforeAll(async () => {
  if (present) redis = await startRedis();
});
afterAll(() => redis?.close());

const STORES: [string, () => Store][] = [
  ['memory', () => memoryStore(clock)],
  ['sqlite', () => sqliteStore(join(folder, `${++made}`, 'coursegate.db'), clock)],
  ...(present
    ? [['redis', () => redisStore({ url: redis?.url ?? '', keyPrefix: `u${++made}` }, clock)] as [string, () => Store]]
    : []),
];

const granting = (id: string, member: string, days = 365): Mutation => ({
  op: 'put',
  entry: {
    kind: 'Grant',
    id,
    payload: JSON.stringify({ jti: id, accountId: member, clientId: 'app', iat: seconds(), openid: { scope: 'a' } }),
    expiresAt: seconds() + days * 86_400,
    references: { member, client: 'app' },
  },
});

const areasOf = async (usage: Usage, { sub, grantId } = ANN) =>
  Object.fromEntries([...((await usage.of(sub)).get(grantId)?.areas ?? [])].map(([area, { count }]) => [area, count]));

describe.each(STORES)('usage counts in %s', (_name, make) => {
  let store: Store;
  beforeEach(async () => {
    now = START;
    store = sealedStore(make(), 'x'.repeat(32));
    await store.commit([granting('g1', 'ann'), granting('g2', 'ann'), granting('g3', 'bob')]);
    return () => store.close();
  });

  it('add up over all replicas, whichever writes first', async () => {
    const replicas = Array.from({ length: 3 }, () => createUsage(store, clock));
    for (let round = 0; round < 5; round += 1) {
      for (const [at, replica] of replicas.entries()) {
        for (let times = 0; times <= at; times += 1) replica.count(ANN, ['courses', 'orders']);
        replica.count({ sub: 'ann', grantId: 'g2' }, ['courses']);
        replica.count({ sub: 'bob', grantId: 'g3' }, ['courses']);
      }
      await Promise.all(replicas.map((replica) => replica.flush()));
      now += 1000;
    }
    const reader = createUsage(store, clock);
    expect(await areasOf(reader)).toEqual({ courses: 30, orders: 30 });
    expect(await areasOf(reader, { sub: 'ann', grantId: 'g2' })).toEqual({ courses: 15 });
    expect([...(await reader.of('bob')).keys()]).toEqual(['g3']);
    expect((await reader.of('ann')).get('g1')?.lastUsedAt).toBe(START / 1000 + 4);
    // The replicas that counted see the same totals.
    for (const replica of replicas) expect(await areasOf(replica)).toEqual({ courses: 30, orders: 30 });
  });

  it('take one entry for each grant and day, however often they are flushed', async () => {
    const usage = createUsage(store, clock);
    for (let at = 0; at < 20; at += 1) {
      usage.count(ANN, ['courses']);
      await usage.flush();
    }
    await usage.flush();
    expect(await store.findBy('GrantUse', 'grant', 'g1')).toHaveLength(1);
    now += DAY;
    usage.count(ANN, ['courses']);
    await usage.flush();
    expect(await store.findBy('GrantUse', 'grant', 'g1')).toHaveLength(2);
    const reader = createUsage(store, clock);
    expect(await areasOf(reader)).toEqual({ courses: 21 });
    const today = Math.floor(now / DAY);
    const { days } = (await reader.of('ann')).get('g1') ?? {};
    const counts = [...(days ?? [])].map(([day, areas]) => [day, areas.get('courses')?.count]);
    expect(counts.toSorted()).toEqual([
      [today - 1, 20],
      [today, 1],
    ]);
  });

  it('include what is not written yet', async () => {
    const usage = createUsage(store, clock);
    usage.count(ANN, ['courses']);
    expect(await areasOf(usage)).toEqual({ courses: 1 });
    expect(await areasOf(createUsage(store, clock))).toEqual({});
    await usage.flush();
    usage.count(ANN, ['courses']);
    expect(await areasOf(usage)).toEqual({ courses: 2 });
    expect(await areasOf(createUsage(store, clock))).toEqual({ courses: 1 });
  });

  it('lose nothing that is counted during a write', async () => {
    const usage = createUsage(store, clock);
    for (let at = 0; at < 5; at += 1) {
      usage.count(ANN, ['courses']);
      const writing = usage.flush();
      usage.count(ANN, ['courses']);
      await writing;
    }
    await usage.flush();
    expect(await areasOf(createUsage(store, clock))).toEqual({ courses: 10 });
  });

  it('include what was counted during a write in the next one', async () => {
    const meanwhile = {
      ...store,
      commit(mutations: readonly Mutation[]) {
        usage.count(ANN, ['late']);
        return store.commit(mutations);
      },
    };
    const usage: Usage = createUsage(meanwhile, clock);
    usage.count(ANN, ['courses']);
    await usage.flush();
    expect(await areasOf(createUsage(store, clock))).toEqual({ courses: 1 });
    await usage.flush();
    expect(await areasOf(createUsage(store, clock))).toEqual({ courses: 1, late: 1 });
  });

  it('cover 30 days, and older entries are deleted', async () => {
    const usage = createUsage(store, clock);
    usage.count(ANN, ['courses']);
    await usage.flush();
    now += 29 * DAY;
    expect(await areasOf(usage)).toEqual({ courses: 1 });
    now += DAY;
    for (const reader of [usage, createUsage(store, clock)]) {
      expect(await areasOf(reader)).toEqual({});
      expect((await reader.of('ann')).get('g1')?.lastUsedAt).toBe(START / 1000);
    }
    await store.sweep(100);
    expect(await store.findBy('GrantUse', 'grant', 'g1')).toEqual([]);
  });

  it('are deleted with a grant that has expired or was revoked', async () => {
    await store.commit([granting('short', 'ann', 1)]);
    const usage = createUsage(store, clock);
    usage.count({ sub: 'ann', grantId: 'short' }, ['courses']);
    usage.count(ANN, ['courses']);
    await usage.flush();
    usage.count(ANN, ['courses']);
    await storedGrants(store, () => {}).revoke('g1', { member: 'ann' }, WHY);
    await usage.flush();
    now += DAY;
    for (const kind of ['GrantUse', 'GrantLastUse']) expect(await store.findBy(kind, 'member', 'ann')).toEqual([]);
  });

  it('are deleted with a grant that oidc-provider destroys, as after a revocation or reuse', async () => {
    const usage = createUsage(store, clock);
    usage.count(ANN, ['courses']);
    await usage.flush();
    const redirects = { schemes: [], allow: [], deny: [] };
    const times = { unusedLifetime: 900, replayWindow: 10, refreshTokens: TEST_TOKENS };
    await adapterFactory({ store, clock, outbox: NO_OUTBOX, onRevoked: () => {}, redirects, ...times })(
      'Grant',
    ).destroy('g1');
    for (const kind of ['Grant', 'GrantUse', 'GrantLastUse'])
      expect(await store.findBy(kind, 'grant', 'g1')).toEqual([]);
  });

  it('are released from memory when their grant has ended or their day is over', async () => {
    const usage = createUsage(store, clock);
    usage.count(ANN, ['courses']);
    await usage.flush();
    await storedGrants(store, () => {}).revoke('g1', { member: 'ann' }, WHY);
    expect((await usage.of('ann')).has('g1')).toBe(true);
    await usage.flush();
    expect((await usage.of('ann')).has('g1')).toBe(false);

    const of = { sub: 'ann', grantId: 'g2' };
    usage.count(of, ['courses']);
    await usage.flush();
    await usage.flush();
    usage.count(of, ['courses']);
    await usage.flush();
    expect(await store.findBy('GrantUse', 'grant', 'g2')).toHaveLength(1);
    now += DAY;
    await usage.flush();
    // Only what is in memory is left then.
    await store.commit([{ op: 'deleteBy', kind: 'GrantUse', name: 'grant', value: 'g2' }]);
    expect(await areasOf(usage, of)).toEqual({});
  });

  it('are limited in the number of grants and areas', async () => {
    const usage = createUsage(store, clock, { grants: 2, areas: 3 });
    for (const area of ['a', 'b', 'c', 'd', 'c']) usage.count(ANN, [area]);
    expect(await areasOf(usage)).toEqual({ a: 1, b: 1, other: 3 });
    usage.count({ sub: 'ann', grantId: 'g2' }, ['a']);
    usage.count({ sub: 'bob', grantId: 'g3' }, ['a']);
    expect((await usage.of('bob')).size).toBe(0);
    await usage.flush();
    usage.count({ sub: 'bob', grantId: 'g3' }, ['a']);
    await usage.flush();
    // The grant that was released continues in a separate entry.
    usage.count(ANN, ['a']);
    await usage.flush();
    expect(await areasOf(createUsage(store, clock))).toEqual({ a: 2, b: 1, other: 3 });
    expect(await areasOf(createUsage(store, clock), { sub: 'bob', grantId: 'g3' })).toEqual({ a: 1 });
  });
});

it('usage counts are not lost while the store fails, and written once it recovers', async () => {
  now = START;
  const inner = memoryStore(clock);
  let ill = false;
  const store: Store = {
    ...inner,
    async commit(mutations) {
      if (ill) throw new GatewayError('store_unavailable');
      return inner.commit(mutations);
    },
  };
  await store.commit(Array.from({ length: 120 }, (_, at) => granting(`many-${at}`, 'ann')));
  const usage = createUsage(store, clock);
  ill = true;
  for (let at = 0; at < 120; at += 1) usage.count({ sub: 'ann', grantId: `many-${at}` }, ['courses']);
  await expect(usage.flush()).rejects.toThrow(GatewayError);
  usage.count({ sub: 'ann', grantId: 'many-0' }, ['courses']);
  ill = false;
  await usage.flush();
  const uses = await createUsage(store, clock).of('ann');
  expect(uses.size).toBe(120);
  expect(uses.get('many-0')?.areas.get('courses')?.count).toBe(2);
});
