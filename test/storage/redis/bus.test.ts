import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { redisBus } from '../../../src/storage/redis/bus.ts';
import { startChaosProxy } from '../../support/chaos-proxy.ts';
import { type RedisServer, redisPresent, startRedis } from '../../support/redis.ts';

describe.skipIf(!redisPresent())('the bus of revocations', () => {
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

  const open = (keyPrefix = 'gate') => {
    const bus = redisBus({ url: server.url, keyPrefix });
    const heard = vi.fn<() => void>();
    bus.subscribe(heard);
    return { bus, heard, close: () => bus.close() };
  };
  /** Waits until all are subscribed, which each is notified of once, and resets the counts. */
  const listening = async (...replicas: readonly ReturnType<typeof open>[]) => {
    for (const { heard } of replicas) {
      await expect.poll(() => heard.mock.calls.length, { interval: 5 }).toBeGreaterThan(0);
      heard.mockClear();
    }
  };

  it('notifies every replica, but none with another prefix', async () => {
    const [one, two, stranger] = [open(), open(), open('stranger')];
    await listening(one, two, stranger);
    await one.bus.announce();
    await expect.poll(() => two.heard.mock.calls.length, { interval: 5 }).toBe(1);
    await stranger.bus.announce();
    await expect.poll(() => stranger.heard.mock.calls.length, { interval: 5 }).toBe(1);
    expect(two.heard).toHaveBeenCalledTimes(1);
    for (const replica of [one, two, stranger]) await replica.close();
  });

  it('notifies after a reconnect, because an announcement may have been missed', async () => {
    const [one, two] = [open(), open()];
    await listening(one, two);
    await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await listening(one, two);
    await one.bus.announce();
    await expect.poll(() => two.heard.mock.calls.length, { interval: 5 }).toBe(1);
    for (const replica of [one, two]) await replica.close();
  });

  it('works again after Redis was down', async () => {
    const [one, two] = [open(), open()];
    await listening(one, two);
    await server.kill();
    try {
      await expect(one.bus.announce()).rejects.toMatchObject({ code: 'store_unavailable' });
    } finally {
      await server.start();
    }
    await listening(one, two);
    const announced = () =>
      one.bus.announce().then(
        () => true,
        () => false,
      );
    await expect.poll(announced, { interval: 20 }).toBe(true);
    await expect.poll(() => two.heard.mock.calls.length, { interval: 5 }).toBe(1);
    for (const replica of [one, two]) await replica.close();
  });

  // Vitest fails on a rejection that is not handled, which would end the gate.
  it.each(['is lost', 'falls silent'] as const)(
    'survives a new connection that %s before the subscription is confirmed',
    async (how) => {
      const proxy = await startChaosProxy({ path: server.socket });
      const bus = redisBus({ url: `redis://127.0.0.1:${proxy.port}`, keyPrefix: 'gate' });
      const heard = vi.fn<() => void>();
      bus.subscribe(heard);
      await expect.poll(() => heard.mock.calls.length, { interval: 5 }).toBeGreaterThan(0);
      for (let times = 0; times < 3; times += 1) {
        const subscribing = proxy.reached({ pattern: /\bsubscribe\b/i, at: 'answer' });
        proxy.cut();
        await subscribing;
        // Longer than a command waits for its answer.
        if (how === 'falls silent') await new Promise((resolve) => setTimeout(resolve, 1000));
        heard.mockClear();
        proxy.heal();
        await expect.poll(() => heard.mock.calls.length, { interval: 5 }).toBeGreaterThan(0);
      }
      await bus.close();
      await proxy.close();
    },
  );

  it('detects that Redis hangs, and notifies when it responds again', async () => {
    const one = open();
    await listening(one);
    server.hang();
    await new Promise((resolve) => setTimeout(resolve, 4500));
    server.resume();
    await listening(one);
    await one.close();
  });
});
