import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { memoryStore } from '../../src/storage/memory/memory-store.ts';
import { namespacedStore } from '../../src/storage/namespace.ts';
import { openedFor, openStore } from '../../src/storage/open.ts';
import { chargeFrom, type Quota } from '../../src/storage/quota.ts';
import { sqliteStore } from '../../src/storage/sqlite/sqlite-store.ts';
import type { RawStore, Store } from '../../src/storage/store.ts';
import { rawStoreConformance, storeConformance, testClock } from './conformance.ts';

const ONE = '0123456789abcdef01234567';
const TWO = 'fedcba987654321001234567';

const folder = mkdtempSync(join(tmpdir(), 'coursegate-schools-'));
let made = 0;
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** One school of a store that closes with it, beside another one with the same entries. */
function beside(open: (clock: () => number) => RawStore, clock: () => number): RawStore {
  const store = open(clock);
  const other = namespacedStore(store, TWO);
  const one = namespacedStore(store, ONE);
  return {
    ...one,
    async commit(mutations, priority) {
      await other.commit(mutations.filter(({ op }) => op === 'put'));
      return one.commit(mutations, priority);
    },
    // The sweep is for all schools: what it deletes of the other one does not count here.
    async sweep(limit) {
      const all = await store.sweep(2 * limit);
      return Math.ceil(all / 2);
    },
    close: () => store.close(),
  };
}

for (const [name, open] of [
  ['memory', memoryStore],
  ['sqlite', (clock: () => number) => sqliteStore(join(folder, `${++made}.db`), clock)],
] as const) {
  storeConformance(`one school in ${name}`, (clock) => beside(open, clock));
  rawStoreConformance(`one school in ${name}`, (clock) => namespacedStore(open(clock), ONE));
}

describe('two schools in one store', () => {
  const { now } = testClock();
  const open = async () => {
    const whole = await openStore({ kind: 'memory' }, { secret: 's'.repeat(32), redis: undefined }, now);
    const damaged: string[] = [];
    const school = (id: string) => openedFor(whole, id, now, (kind) => damaged.push(kind));
    return { whole, one: school(ONE), two: school(TWO), school, damaged };
  };
  const token = {
    kind: 'AccessToken',
    id: 'a-token',
    payload: '{"member":"42"}',
    expiresAt: undefined,
    references: { grant: 'g', member: '42' },
  };
  const found = async (store: Store) => [
    await store.get(token.kind, token.id),
    ...(await store.findBy(token.kind, 'member', '42')),
    ...(await store.scan(undefined, undefined, 100)).entries,
    ...(await store.scan([token.kind], undefined, 100)).entries,
  ];

  it('have their entries under the same kinds as ever', async () => {
    const raw = memoryStore(now);
    await namespacedStore(raw, ONE).commit([{ op: 'put', entry: token }]);
    expect(await raw.get(`${ONE}.AccessToken`, token.id)).toMatchObject({ payload: token.payload });
  });

  it('find nothing of each other, and neither does the process', async () => {
    const { whole, one, two } = await open();
    await one.store.commit([{ op: 'put', entry: token }]);
    expect((await found(one.store)).filter(Boolean)).toHaveLength(4);
    expect(await found(two.store)).toEqual([undefined]);
    expect(await two.store.count(token.kind, 'member', '42')).toBe(0);
    expect(await whole.store.get(token.kind, token.id)).toBeUndefined();
    expect(await two.store.commit([{ op: 'consume', kind: token.kind, id: token.id }])).toBe(false);
    await two.store.commit([
      { op: 'delete', kind: token.kind, id: token.id },
      { op: 'deleteBy', kind: token.kind, name: 'member', value: '42' },
    ]);
    expect(await one.store.get(token.kind, token.id)).toMatchObject({ payload: token.payload });
  });

  it('cannot open an entry of the other one, even where it is moved to them in the database', async () => {
    const { whole, one, two, damaged } = await open();
    await one.store.commit([{ op: 'put', entry: token }]);
    const { entries } = await whole.raw.scan(undefined, undefined, 100);
    const moved = entries.map((entry) => ({ ...entry, kind: entry.kind.replace(ONE, TWO) }));
    await whole.raw.commit(moved.map((entry) => ({ op: 'restore', ...entry })));
    await expect(two.store.get(token.kind, token.id)).rejects.toMatchObject({ code: 'store_unavailable' });
    // With the key of its own ids, it finds the row, and still cannot open it.
    await whole.raw.commit([{ op: 'delete', kind: `${TWO}.StoreKeys`, id: 'index' }]);
    expect((await two.store.scan([token.kind], undefined, 100)).entries).toEqual([]);
    expect(damaged).toEqual([token.kind]);
  });

  it('derive different keys from one secret, and a school that begins again under another id opens nothing', async () => {
    const { one, two, school } = await open();
    expect(new Set([one.secret, two.secret, 's'.repeat(32)]).size).toBe(3);
    expect(Buffer.from(one.secret, 'base64url')).toHaveLength(32);
    await one.store.commit([{ op: 'put', entry: token }]);
    expect(await found(school('a-later-school').store)).toEqual([undefined]);
    expect((await school(ONE).store.get(token.kind, token.id))?.payload).toBe(token.payload);
  });

  it('do not evict what strangers do at the other one, and count attempts apart', async () => {
    const { one, two } = await open();
    const quota: Quota = { name: 'q', total: 6000, perClient: 6000, perNetwork: 6000, whenFull: 'evict' };
    const pending = (id: string) => {
      const charge = chargeFrom(quota, '192.0.2.1', 'app');
      return { ...token, kind: 'Interaction', id, payload: 'x'.repeat(900), references: {}, charge };
    };
    await one.store.commit([{ op: 'put', entry: pending('first') }]);
    for (let at = 0; at < 10; at += 1) await two.store.commit([{ op: 'put', entry: pending(`other-${at}`) }]);
    expect(await one.store.get('Interaction', 'first')).toBeDefined();
    expect(await two.store.get('Interaction', 'other-0')).toBeUndefined();

    const rate = { requests: 1, per: 60 };
    one.counters.add('sign-in 192.0.2.1', rate);
    expect(two.counters.peek('sign-in 192.0.2.1', rate).count).toBe(0);
    expect(one.counters.peek('sign-in 192.0.2.1', rate).count).toBe(1);
  });

  it('are sealed again one by one', async () => {
    const { whole, one } = await open();
    await one.store.commit([{ op: 'put', entry: token }]);
    expect(await whole.reseal(undefined, 100)).toMatchObject({ resealed: 0, unreadable: 0 });
    expect(await one.reseal(undefined, 100)).toMatchObject({ resealed: 0, unreadable: 0 });
    expect((await one.store.get(token.kind, token.id))?.payload).toBe(token.payload);
  });
});
