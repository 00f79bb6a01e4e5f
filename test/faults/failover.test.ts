import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { redisStore } from '../../src/storage/redis/redis-store.ts';
import { introspect, registerApp, revoke } from '../support/app.ts';
import { startChaosProxy } from '../support/chaos-proxy.ts';
import { approved, connect, refreshForm, type Tokens, token } from '../support/connection.ts';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';
import { DOWN_AFTER, type Sentinels, startSentinels } from '../support/redis-topology.ts';
import { startWorld, type World } from '../support/world.ts';
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

/** The state that must survive: connected members, a revoked connection, and a redeemed code. */
async function ledger(world: World) {
  const app = await registerApp(world.origin);
  const held: Tokens[] = [];
  for (let at = 0; at < CLIENTS; at += 1) held.push((await connect(app)) as unknown as Tokens);
  const cut = (await connect(app)) as unknown as Tokens;
  const { form } = await approved(app);
  return { app, held, cut, form };
}
type Ledger = Awaited<ReturnType<typeof ledger>>;

/** Checks that everything acknowledged is unchanged. */
async function holds({ app, held, cut, form }: Ledger): Promise<void> {
  for (const { access_token, refresh_token } of held) {
    expect((await introspect(app, access_token)).active).toBe(true);
    expect(await token(app, refreshForm(app, refresh_token))).toMatchObject({ status: 200 });
  }
  expect((await introspect(app, cut.access_token)).active).toBe(false);
  expect((await token(app, refreshForm(app, cut.refresh_token))).body.error).toBe('invalid_grant');
  expect((await token(app, form)).body.error).toBe('invalid_grant');
}

/**
 * Waits until no fsync is in progress: with `everysec`, Redis keeps acknowledged writes in its memory for up to two
 * seconds meanwhile, and a kill loses them.
 */
async function synced({ socket }: RedisServer): Promise<void> {
  const client = new Redis({ path: socket });
  await vi.waitFor(async () => expect(await client.info('persistence')).toContain('aof_pending_bio_fsync:0'), {
    timeout: 20_000,
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
  }, 60_000);
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

  it('ends no connection, restores no revoked one, and causes 503 only until the new primary is up', {
    timeout: 90_000,
  }, async () => {
    const all = await ledger(world);
    expect((await token(all.app, all.form)).status).toBe(200);
    await sleep(300);
    const report = await refreshWhile(all.app, all.held, async () => {
      await sleep(500);
      // At least one replica acknowledges the write before the primary dies.
      await revoke(all.app, all.cut.refresh_token);
      await sentinels.redis[0]?.kill();
      await sleep(DOWN_AFTER + 500);
    });
    process.stdout.write(`failover: ${JSON.stringify(report)}\n`);
    expect(report.rotated).toBeGreaterThan(CLIENTS);
    expect(report.unavailable).toBeGreaterThan(0);
    expect(report.outage).toBeLessThan(DOWN_AFTER + 5000);
    await holds(all);
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

    it('ends no connection and restores no revoked one', { timeout: 60_000 }, async () => {
      const all = await ledger(world);
      expect((await token(all.app, all.form)).status).toBe(200);
      const report = await refreshWhile(all.app, all.held, async () => {
        for (let times = 0; times < 4; times += 1) {
          await sleep(200 + Math.random() * 200);
          // A 503 is retried, as clients do: the Redis of the previous round may have just come back.
          if (times === 2) await vi.waitFor(() => revoke(all.app, all.cut.refresh_token), { timeout: 20_000 });
          await synced(redis);
          await redis.kill();
          await sleep(100);
          await redis.start();
          await sleep(700);
        }
      });
      process.stdout.write(`restart (${appendOnly}): ${JSON.stringify(report)}\n`);
      expect(report.unavailable).toBeGreaterThan(0);
      expect(report.outage).toBeLessThan(5000);
      await holds(all);
    });
  },
);
