import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { redisBus } from '../../../src/storage/redis/bus.ts';
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

  it('notifies every replica within a second, but none with another prefix', async () => {
    const [one, two, stranger] = [open(), open(), open('stranger')];
    await listening(one, two, stranger);
    await one.bus.announce();
    await expect.poll(() => two.heard.mock.calls.length, { interval: 5, timeout: 1000 }).toBe(1);
    await stranger.bus.announce();
    await expect.poll(() => stranger.heard.mock.calls.length, { interval: 5, timeout: 1000 }).toBe(1);
    expect(two.heard).toHaveBeenCalledTimes(1);
    for (const replica of [one, two, stranger]) await replica.close();
  });

  it('notifies after a reconnect, because an announcement may have been missed', async () => {
    const [one, two] = [open(), open()];
    await listening(one, two);
    await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await listening(one, two);
    await one.bus.announce();
    await expect.poll(() => two.heard.mock.calls.length, { interval: 5, timeout: 1000 }).toBe(1);
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
    await expect.poll(announced, { interval: 20, timeout: 2000 }).toBe(true);
    await expect.poll(() => two.heard.mock.calls.length, { interval: 5, timeout: 1000 }).toBe(1);
    for (const replica of [one, two]) await replica.close();
  });

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
