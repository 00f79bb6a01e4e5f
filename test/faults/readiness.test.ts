import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memoryStore } from '../../src/storage/memory/memory-store.ts';
import { writingProbe } from '../../src/storage/probe.ts';
import { registerApp } from '../support/app.ts';
import { connect, refreshForm, type Tokens, token } from '../support/connection.ts';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';
import { startWorld, type World } from '../support/world.ts';

// full-disk.test.ts tests a full disk, failing-disk.test.ts a failing one.
describe.skipIf(!redisPresent())('a gate whose Redis accepts no writes', () => {
  let redis: RedisServer;
  let admin: Redis;
  let world: World;
  beforeAll(async () => {
    redis = await startRedis({ appendOnly: true, args: ['--enable-protected-configs', 'yes'] });
    admin = new Redis(redis.url);
    world = await startWorld({
      profile: 'A',
      environment: { REDIS_URL: redis.url, COURSEGATE_SECRET: 'k'.repeat(32) },
      overrides: { store: { kind: 'redis', url: { env: 'REDIS_URL' } }, secret: { env: 'COURSEGATE_SECRET' } },
    });
  });
  afterAll(async () => {
    await world.close();
    admin.disconnect();
    await redis.close();
  });

  const readiness = async () => (await fetch(`${world.admin}/readyz`)).status;
  const becomes = (status: number) => expect.poll(readiness, { interval: 100 }).toBe(status);

  it.each([
    {
      what: 'out of memory',
      befall: () => admin.config('SET', 'maxmemory', '1mb'),
      heal: () => admin.config('SET', 'maxmemory', '0'),
    },
    {
      what: 'a replica',
      befall: () => admin.call('REPLICAOF', '127.0.0.1', '1'),
      heal: () => admin.call('REPLICAOF', 'NO', 'ONE'),
    },
    {
      what: 'unable to save to its disk',
      async befall() {
        await admin.config('SET', 'save', '3600 1');
        await admin.config('SET', 'dir', '/proc');
        await admin.bgsave();
      },
      async heal() {
        await admin.config('SET', 'save', '');
        await admin.config('SET', 'dir', '/tmp');
      },
    },
  ])('is not ready while Redis is $what, and is ready again afterwards', async ({ befall, heal }) => {
    await becomes(200);
    await befall();
    await becomes(503);
    await heal();
    await becomes(200);
  });

  it('reserves memory for existing connections when new ones are no longer accepted', async () => {
    const app = await registerApp(world.origin);
    const tokens = (await connect(app)) as unknown as Tokens;
    const used = Number(/^used_memory:(\d+)/m.exec(await admin.info('memory'))?.[1]);
    await admin.config('SET', 'maxmemory', String(Math.ceil(used / 0.97)));
    await becomes(503);
    await expect(registerApp(world.origin)).rejects.toThrow();
    expect((await token(app, refreshForm(app, tokens.refresh_token))).status).toBe(200);
    await admin.config('SET', 'maxmemory', '0');
    await becomes(200);
  });
});

describe('the write probe of the store', () => {
  it('writes once a second, however often it is called, and gives every caller the result', async () => {
    let [now, commits, fails] = [0, 0, false];
    const store = memoryStore(Date.now);
    const counted: typeof store = {
      ...store,
      commit: async (mutations) => {
        commits += 1;
        if (fails) throw new Error('full');
        return store.commit(mutations);
      },
    };
    const probe = writingProbe(counted, Date.now, () => now);
    for (; now < 5000; now += 10) await probe();
    expect(commits).toBe(5);
    fails = true;
    await expect(probe()).rejects.toThrow('full');
    await expect(probe()).rejects.toThrow('full');
    fails = false;
    now += 1000;
    await probe();
    expect(commits).toBe(7);
  });
});
