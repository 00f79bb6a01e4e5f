import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { redisStore } from '../../src/storage/redis/redis-store.ts';
import { type App, introspect, postForm, registerApp, revoke } from '../support/app.ts';
import { startChaosProxy } from '../support/chaos-proxy.ts';
import { approved, connect, refreshForm, type Tokens, token } from '../support/connection.ts';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';
import { type Sentinels, startSentinels } from '../support/redis-topology.ts';
import { startWorld, type World } from '../support/world.ts';
import { insistently, patiently } from './patiently.ts';
import { refreshWhile } from './refresh-load.ts';

const shared = (store: object) => ({
  profile: 'A',
  environment: { COURSEGATE_SECRET: 'k'.repeat(32) },
  overrides: {
    store: { kind: 'redis', ...store },
    secret: { env: 'COURSEGATE_SECRET' },
    tokens: { replayWindow: '60s' },
  },
});

const CLIENTS = 6;

/** What a Redis may take on a busy machine to be there again, in milliseconds. */
const RECOVERY = 60_000;

/** The state that must survive: connected members, a revoked connection, and a redeemed code. */
interface Ledger {
  readonly app: App;
  readonly held: Tokens[];
  readonly cut: Tokens;
  /** Redeems a code. */
  readonly form: Record<string, string | undefined>;
}

async function ledger(world: World): Promise<Ledger> {
  const app = await registerApp(world.origin);
  const held: Tokens[] = [];
  for (let at = 0; at < CLIENTS; at += 1) held.push((await insistently(() => connect(app))) as unknown as Tokens);
  const cut = (await insistently(() => connect(app))) as unknown as Tokens;
  const { form } = await approved(app);
  return { app, held, cut, form };
}

/** Checks that everything acknowledged is unchanged. A Redis that is just back may still be slow. */
async function holds({ app, held, cut, form }: Ledger): Promise<void> {
  const isActive = async (of: string) => (await insistently(() => introspect(app, of))).active;
  const answered = (to: Ledger['form']) => patiently(() => token(app, to));
  for (const { access_token, refresh_token } of held) {
    expect(await isActive(access_token)).toBe(true);
    expect(await answered(refreshForm(app, refresh_token))).toMatchObject({ status: 200 });
  }
  expect(await isActive(cut.access_token)).toBe(false);
  expect((await answered(refreshForm(app, cut.refresh_token))).body.error).toBe('invalid_grant');
  expect((await answered(form)).body.error).toBe('invalid_grant');
}

/**
 * Waits until no fsync is in progress: with `everysec`, Redis keeps acknowledged writes in its memory for up to two
 * seconds meanwhile, and a kill loses them.
 */
async function synced({ socket }: RedisServer): Promise<void> {
  const client = new Redis({ path: socket });
  await vi.waitFor(async () => expect(await client.info('persistence')).toContain('aof_pending_bio_fsync:0'), {
    timeout: RECOVERY,
    interval: 5,
  });
  client.disconnect();
}

describe.skipIf(!redisPresent())('a failover by Redis Sentinel under load', () => {
  let sentinels: Sentinels;
  let world: World;
  beforeAll(async () => {
    sentinels = await startSentinels();
    const { nodes, masterName } = sentinels;
    const addresses = nodes.map(({ host, port }) => `${host}:${port}`);
    world = await startWorld(shared({ sentinels: addresses, masterName, minReplicas: 1 }));
  });
  afterAll(async () => {
    await world.close();
    await sentinels.close();
  });

  // Vitest fails on a rejection that is not handled, which would end the gate.
  it('survives a Sentinel that falls silent when it is subscribed to again', async () => {
    const sentinel = new Redis({ ...sentinels.nodes[0] });
    const subscribers = async () => String(await sentinel.call('CLIENT', 'LIST', 'TYPE', 'pubsub')).split('id=').length;
    const before = await subscribers();
    const proxy = await startChaosProxy({ ...sentinels.nodes[0] } as { port: number });
    const nodes = [{ host: '127.0.0.1', port: proxy.port }];
    const store = redisStore({ sentinels: nodes, masterName: sentinels.masterName, keyPrefix: 'own' }, () =>
      Date.now(),
    );
    expect(await store.get('Code', 'a')).toBeUndefined();
    await expect.poll(subscribers).toBeGreaterThan(before);
    const again = proxy.reached({ pattern: /\bsubscribe\b/i, at: 'request' });
    proxy.cut();
    await again;
    // Longer than a command waits for its answer.
    await sleep(1000);
    proxy.heal();
    expect(await store.get('Code', 'a')).toBeUndefined();
    await store.close();
    await proxy.close();
    sentinel.disconnect();
  });

  it('acknowledges nothing that no replica has, also when it is asked again', async () => {
    const app = await registerApp(world.origin);
    const [held, cut] = [await connect(app), await connect(app)] as unknown as [Tokens, Tokens];
    const [primary, ...replicas] = sentinels.redis;
    const revocation = { token: cut.refresh_token, client_id: app.client.client_id };
    const revokes = async () => (await postForm(app.server.revocation_endpoint, revocation)).status;
    const refreshes = async () => (await token(app, refreshForm(app, held.refresh_token))).status;
    for (const replica of replicas) replica.hang();
    await primary?.admin.call('CLIENT', 'KILL', 'TYPE', 'replica');
    try {
      expect([await refreshes(), await refreshes()]).toEqual([503, 503]);
      expect([await revokes(), await revokes()]).toEqual([503, 503]);
    } finally {
      for (const replica of replicas) replica.resume();
    }
    await expect.poll(refreshes, { timeout: RECOVERY }).toBe(200);
    await expect.poll(revokes, { timeout: RECOVERY }).toBe(200);
    expect((await introspect(app, cut.access_token)).active).toBe(false);
  });

  it('ends no connection, restores no revoked one, and causes 503 only until the new primary is up', {
    timeout: 3 * RECOVERY,
  }, async () => {
    const all = await ledger(world);
    expect((await token(all.app, all.form)).status).toBe(200);
    // These ask a slow Sentinel for the primary, so that some hear of the failover before they are answered.
    const slow = await startChaosProxy({ ...sentinels.nodes[0] } as { port: number });
    slow.delay(() => 350);
    const asking = { sentinels: [{ host: '127.0.0.1', port: slow.port }], masterName: sentinels.masterName };
    const stores = Array.from({ length: 8 }, () => redisStore({ ...asking, keyPrefix: 'slow' }, () => Date.now()));
    const reads = () => Promise.all(stores.map((store) => store.get('Code', 'a')));
    await expect.poll(reads, { timeout: RECOVERY }).toHaveLength(8);
    await sleep(300);
    let replaced = 0;
    const report = await refreshWhile(all.app, all.held, async () => {
      await sleep(500);
      // At least one replica acknowledges the write before the primary dies.
      await insistently(() => revoke(all.app, all.cut.refresh_token));
      const [primary, ...replicas] = sentinels.redis;
      await primary?.kill();
      const killed = performance.now();
      const roles = () => Promise.all(replicas.map(async ({ admin }) => String(await admin.call('ROLE'))));
      // The Sentinels vote again after ten seconds if none of them got the votes of the others.
      await expect.poll(roles, { timeout: RECOVERY, interval: 20 }).toContainEqual(expect.stringMatching(/^master/));
      replaced = performance.now() - killed;
      await sleep(500);
    });
    process.stdout.write(`failover: ${JSON.stringify(report)}\n`);
    expect(report.rotated).toBeGreaterThan(CLIENTS);
    expect(report.unavailable).toBeGreaterThan(0);
    expect(report.outage).toBeLessThan(replaced + 20_000);
    await holds(all);
    await expect.poll(reads, { timeout: 20_000 }).toHaveLength(8);
    for (const store of stores) await store.close();
    await slow.close();
  });
});

describe.skipIf(!redisPresent()).each(['always', 'everysec'] as const)(
  'a Redis killed and restarted under load, with appendfsync %s',
  (appendOnly) => {
    let redis: RedisServer;
    let world: World;
    beforeAll(async () => {
      redis = await startRedis({ appendOnly });
      const { environment, ...rest } = shared({ url: { env: 'REDIS_URL' } });
      world = await startWorld({ ...rest, environment: { ...environment, REDIS_URL: redis.url } });
    });
    afterAll(async () => {
      await world.close();
      await redis.close();
    });

    it('ends no connection and restores no revoked one', { timeout: 3 * RECOVERY }, async () => {
      const all = await ledger(world);
      expect((await token(all.app, all.form)).status).toBe(200);
      const report = await refreshWhile(all.app, all.held, async () => {
        for (let times = 0; times < 4; times += 1) {
          await sleep(200 + Math.random() * 200);
          // A 503 is retried, as clients do: the Redis of the previous round may have just come back.
          if (times === 2) await vi.waitFor(() => revoke(all.app, all.cut.refresh_token), { timeout: RECOVERY });
          await synced(redis);
          await redis.kill();
          await sleep(100);
          await redis.start();
          await sleep(700);
        }
      });
      process.stdout.write(`restart (${appendOnly}): ${JSON.stringify(report)}\n`);
      expect(report.unavailable).toBeGreaterThan(0);
      expect(report.outage).toBeLessThan(30_000);
      await holds(all);
    });
  },
);
