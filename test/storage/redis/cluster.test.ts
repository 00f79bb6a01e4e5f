import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { redisBus } from '../../../src/storage/redis/bus.ts';
import { redisStore } from '../../../src/storage/redis/redis-store.ts';
import type { Mutation, NewEntry, Store } from '../../../src/storage/store.ts';
import { timeOf } from '../../support/pace.ts';
import { redisPresent } from '../../support/redis.ts';
import { type RedisCluster, type RedisProcess, startCluster } from '../../support/redis-topology.ts';
import { rawStoreConformance, storeConformance } from '../conformance.ts';
import { IN_TIME } from '../failing-store.ts';

const UNAVAILABLE = { code: 'store_unavailable', status: 503 };
const TAG = '{gate}:';

const entry = (id: string, over: Partial<NewEntry> = {}): NewEntry => ({
  kind: 'Code',
  id,
  payload: '{}',
  expiresAt: undefined,
  references: { grant: 'g' },
  ...over,
});
const create = (id: string): Mutation => ({ op: 'create', entry: entry(id) });
const consume = (id: string): Mutation => ({ op: 'consume', kind: 'Code', id });

describe.skipIf(!redisPresent())('a Redis Cluster', () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster.close());
  beforeEach(async () => {
    for (const { admin } of cluster.redis) await admin.flushall();
  });

  const open = (clock: () => number = Date.now, keyPrefix = 'gate') =>
    redisStore({ cluster: cluster.nodes, keyPrefix }, clock);

  storeConformance('a Redis Cluster', (clock) => open(clock));
  rawStoreConformance('a Redis Cluster', (clock) => open(clock));

  const others = (one: RedisProcess) => cluster.redis.filter((other) => other !== one);

  /** Starts to move our slot and moves `some` of the keys. Returns a function that moves the rest and finishes. */
  const moving = async (some: number) => {
    const from = await cluster.ownerOf(TAG);
    const to = others(from)[0] as RedisProcess;
    const slot = (await from.admin.cluster('KEYSLOT', TAG)) as number;
    const [fromId, toId] = await Promise.all([from, to].map(({ admin }) => admin.cluster('MYID')));
    await to.admin.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(fromId));
    await from.admin.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(toId));
    const move = async (count: number) => {
      const keys = (await from.admin.call('CLUSTER', 'GETKEYSINSLOT', slot, count)) as string[];
      if (keys.length > 0) await from.admin.call('MIGRATE', '127.0.0.1', to.port, '', 0, 5000, 'KEYS', ...keys);
      return keys;
    };
    const moved = await move(some);
    return {
      moved,
      to,
      async finish() {
        while ((await move(1000)).length > 0);
        for (const { admin } of [to, from, ...others(from)]) {
          await admin.call('CLUSTER', 'SETSLOT', slot, 'NODE', String(toId));
        }
      },
    };
  };
  const fails = (work: Promise<unknown>) => expect(work).rejects.toMatchObject(UNAVAILABLE);

  it('keeps all keys of a gate in one slot, so that no script crosses slots', async () => {
    const store = open();
    await store.commit([create('a'), create('b'), consume('a')]);
    const counts = await Promise.all(cluster.redis.map(({ admin }) => admin.dbsize()));
    expect(counts.filter((count) => count > 0)).toHaveLength(1);
    await store.close();
  });

  it('is followed when its slot moves to another node', async () => {
    const store = open();
    await store.commit([create('a'), create('b')]);
    await (await moving(0)).finish();
    // The client follows MOVED in the same call.
    expect(await store.get('Code', 'a')).toBeDefined();
    expect(await store.commit([consume('a')])).toBe(true);
    expect(await store.findBy('Code', 'grant', 'g')).toHaveLength(2);
    await store.close();
  });

  it.each([0, 1, 3, 100])(
    'allows reads and no writes while its slot moves, with %i keys already moved',
    async (some) => {
      const store = open();
      for (let at = 0; at < 5; at += 1) await store.commit([create(`c${at}`)]);
      const before = await snapshot(cluster);
      const move = await moving(some);
      for (let at = 0; at < 5; at += 1) {
        expect(await store.get('Code', `c${at}`)).toMatchObject({ id: `c${at}`, consumedAt: undefined });
        // Never false, which would cause an invalid_grant.
        await fails(store.commit([consume(`c${at}`)]));
      }
      await fails(store.commit([create('new')]));
      await fails(store.commit([{ op: 'deleteBy', kind: 'Code', name: 'grant', value: 'g' }]));
      await fails(store.findBy('Code', 'grant', 'g'));
      await move.finish();
      expect(await snapshot(cluster)).toEqual(before);
      for (let at = 0; at < 5; at += 1) expect(await store.commit([consume(`c${at}`)])).toBe(true);
      expect(await store.findBy('Code', 'grant', 'g')).toHaveLength(5);
      await store.close();
    },
  );

  it('survives that the node which its slot moves to hangs', async () => {
    const store = open();
    await store.commit([create('a')]);
    const move = await moving(100);
    expect(await store.get('Code', 'a')).toBeDefined();
    move.to.hang();
    try {
      await fails(store.get('Code', 'a'));
      // Longer than a command waits for its answer. Vitest fails on a rejection that is not handled, which would end the
      // gate.
      await new Promise((resolve) => setTimeout(resolve, 200));
    } finally {
      move.to.resume();
    }
    await move.finish();
    await expect.poll(() => store.get('Code', 'a').catch(() => undefined)).toBeDefined();
    await store.close();
  });

  it('redeems each code once while its slot moves under load', async () => {
    const stores = [open(), open()] as const;
    const ids = Array.from({ length: 60 }, (_, at) => `l${at}`);
    await stores[0].commit(ids.map(create));
    const wins = new Map<string, number>();
    let over = false;
    /** A client that retries at its replica until the code is reported as used. */
    const client = async (store: Store, id: string) => {
      for (;;) {
        const answer = await store.commit([consume(id)]).catch(() => 'unavailable' as const);
        if (answer === true) wins.set(id, (wins.get(id) ?? 0) + 1);
        if (answer !== 'unavailable' && over) return;
        await new Promise((resolve) => setTimeout(resolve, 10 + Math.random() * 40));
      }
    };
    const clients = ids.flatMap((id) => stores.map((store) => client(store, id)));
    for (let times = 0; times < 3; times += 1) {
      const move = await moving(20);
      await new Promise((resolve) => setTimeout(resolve, 100));
      await move.finish();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    over = true;
    await Promise.all(clients);
    expect(wins.size).toBe(ids.length);
    expect([...wins.values()].every((times) => times === 1)).toBe(true);
    for (const store of stores) await store.close();
  });

  it('works while another node is down, and returns 503 in time while its own node is down', async () => {
    const store = open();
    const bus = redisBus({ cluster: cluster.nodes, keyPrefix: 'gate' });
    let heard = 0;
    bus.subscribe(() => {
      heard += 1;
    });
    await store.commit([create('a')]);
    const owner = await cluster.ownerOf(TAG);
    const [other] = others(owner);
    await other?.kill();
    try {
      for (let times = 0; times < 20; times += 1) expect(await store.get('Code', 'a')).toBeDefined();
      expect(await store.commit([create('b')])).toBe(true);
    } finally {
      await other?.start();
    }
    await owner.kill();
    try {
      for (const work of [() => store.get('Code', 'a'), () => store.commit([create('c')]), () => store.sweep(1)]) {
        expect(await timeOf(() => fails(work()))).toBeLessThan(IN_TIME);
      }
    } finally {
      await owner.start();
    }
    const works = () => store.commit([consume('a')]).catch(() => undefined);
    await expect.poll(works, { interval: 20 }).toBe(true);
    // The subscription reports the loss of its node, and then receives announcements from any node again.
    await expect.poll(() => heard).toBeGreaterThan(0);
    const announced = () =>
      bus.announce().then(
        () => true,
        () => false,
      );
    await expect.poll(announced).toBe(true);
    heard = 0;
    await expect.poll(async () => (await announced()) && heard > 0).toBe(true);
    await bus.close();
    await store.close();
  });
});

/** Every key of every node, with its content. */
async function snapshot(cluster: RedisCluster): Promise<ReadonlyMap<string, unknown>> {
  const found = new Map<string, unknown>();
  for (const { admin } of cluster.redis) {
    for (const key of await admin.keys('*')) {
      found.set(key, key.includes(':entry:') ? await admin.hgetall(key) : await admin.zrange(key, '0', '-1'));
    }
  }
  return found;
}
