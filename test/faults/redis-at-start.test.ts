import { type AddressInfo, createServer, type Socket } from 'node:net';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { describeFailure } from '../../src/commands/failure.ts';
import { awaitStore } from '../../src/foundation/await-store.ts';
import { StoreNotReady } from '../../src/storage/open-failure.ts';
import { redisStore } from '../../src/storage/redis/redis-store.ts';
import { checkRedisAtStart } from '../../src/storage/redis/start.ts';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';
import { freePort } from '../support/world.ts';
import { type GateProcess, gateProcess } from './gate-process.ts';

describe.skipIf(!redisPresent())('a gate whose Redis is not ready at the start', () => {
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  const begin = async (args: readonly string[] = []) => {
    const redis = await startRedis({ appendOnly: true, args });
    closing.push(() => redis.close());
    const probes = await freePort();
    const gate = await gateProcess({
      environment: {
        COURSEGATE__STORE: '{ kind: redis, url: { env: REDIS_URL } }',
        COURSEGATE__SECRET: '{ env: COURSEGATE_SECRET }',
        COURSEGATE__LISTEN__PROBES__PORT: String(probes),
        REDIS_URL: redis.url,
        COURSEGATE_SECRET: 'k'.repeat(32),
      },
    });
    closing.push(() => gate.close());
    return { redis, gate, probes: `http://127.0.0.1:${probes}` };
  };
  const statusOf = (url: string) =>
    fetch(url).then(
      ({ status }) => status,
      () => 0,
    );
  const waits = (gate: GateProcess) =>
    gate
      .log()
      .split('\n')
      .filter((line) => line.includes('waiting for the store'));

  /** Starts the gate, looks at its probes while it waits, then lets Redis go on. */
  const startsAfter = async (
    { gate, probes }: { readonly gate: GateProcess; readonly probes: string },
    reason: RegExp,
    goOn: () => unknown,
  ) => {
    const started = gate.start();
    // Noticed below, by awaiting it.
    started.catch(() => undefined);
    await vi.waitUntil(() => waits(gate).length > 0, { timeout: 30_000 });
    for (const place of [gate.admin, probes]) {
      await vi.waitUntil(async () => (await statusOf(`${place}/livez`)) === 200, { timeout: 10_000 });
      expect(await statusOf(`${place}/readyz`)).toBe(503);
    }
    expect(await statusOf(gate.origin)).toBe(0);
    expect(JSON.parse(waits(gate)[0] ?? '')).toMatchObject({ level: 40, reason: expect.stringMatching(reason) });
    await goOn();
    await started;
    expect(waits(gate)).toHaveLength(1);
    for (const place of [gate.admin, probes]) expect(await statusOf(`${place}/readyz`)).toBe(200);
  };

  it('waits until it is up', async () => {
    const { redis, ...stand } = await begin();
    await redis.kill();
    await startsAfter(stand, /ENOENT|ECONNREFUSED/, () => redis.start());
  });

  it('waits until it answers', async () => {
    const { redis, ...stand } = await begin();
    redis.hang();
    await startsAfter(stand, /it does not answer/, () => redis.resume());
  });

  it('waits until it has loaded its data', async () => {
    const { redis, ...stand } = await begin([
      ...['--key-load-delay', '20000', '--loading-process-events-interval-bytes', '1024'],
    ]);
    const client = new Redis(redis.url);
    for (let at = 0; at < 400; at += 1) await client.set(`other:${at}`, 'x'.repeat(2000));
    client.disconnect();
    await redis.kill();
    const loaded = redis.start();
    await startsAfter(stand, /LOADING|still loading its data/, () => loaded);
  });

  it('waits for a Redis that is killed while it is asked', async () => {
    const redis = await startRedis({ appendOnly: true });
    closing.push(() => redis.close());
    const options = { url: redis.url, keyPrefix: 'gate' };
    const store = redisStore(options, Date.now);
    closing.push(() => store.close());
    await store.get('Grant', 'a');
    redis.hang();
    const checked = checkRedisAtStart(options, store).catch((thrown: unknown) => thrown);
    await redis.kill();
    expect(await checked).toBeInstanceOf(StoreNotReady);
  });

  // As the old primary does in a failover.
  it.each<[string, (socket: Socket) => unknown]>([
    ['ends', (socket) => socket.end()],
    ['destroys', (socket) => socket.destroy()],
    ['resets', (socket) => socket.once('data', () => socket.resetAndDestroy())],
  ])('waits for a Redis that %s its connections', async (_name, end) => {
    const server = createServer((socket) => void end(socket.on('error', () => {}).resume()));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => new Promise((resolve) => server.close(resolve)));
    const { port } = server.address() as AddressInfo;
    const node = { host: '127.0.0.1', port };
    for (const target of [
      { url: `redis://127.0.0.1:${port}` },
      { cluster: [node] },
      { sentinels: [node], masterName: 'primary' },
    ]) {
      const options = { ...target, keyPrefix: 'gate' };
      const store = redisStore(options, Date.now);
      const failure = await checkRedisAtStart(options, store).catch((thrown: unknown) => thrown);
      expect(failure, JSON.stringify(target)).toBeInstanceOf(StoreNotReady);
      await store.close();
    }
  });

  it.each([
    ['a wrong password', ['--requirepass', 'another'], /NOAUTH/],
    ['a Redis that evicts', ['--maxmemory-policy', 'allkeys-lru'], /maxmemory-policy/],
  ])('does not wait for %s', async (_name, args, reason) => {
    const redis = await startRedis({ args });
    closing.push(() => redis.close());
    const options = { url: redis.url, keyPrefix: 'gate' };
    const store = redisStore(options, Date.now);
    const waiting = vi.fn();
    const check = () => checkRedisAtStart(options, store);
    await expect(awaitStore(check, { log: { warn: vi.fn() }, waiting })).rejects.toThrow(reason);
    expect(waiting).not.toHaveBeenCalled();
    await store.close();
  });

  it('ends with the reason alone if its store must not be used', async () => {
    const { gate } = await begin(['--maxmemory-policy', 'allkeys-lru']);
    await expect(gate.start()).rejects.toThrow();
    expect(await gate.exited()).toBe(1);
    expect(gate.log()).toMatch(/^The store in Redis [^\n]+ maxmemory-policy [^\n]+\nTry: [^\n]+\n$/);
  });

  it('ends after its patience with code 69 and our own words', async () => {
    const redis: RedisServer = await startRedis();
    closing.push(() => redis.close());
    redis.hang();
    const options = { url: redis.url, keyPrefix: 'gate' };
    const store = redisStore(options, Date.now);
    const warn = vi.fn();
    const end = vi.fn(async () => undefined);
    const failure = await awaitStore(() => checkRedisAtStart(options, store), {
      log: { warn },
      waiting: async () => end,
      patience: 2500,
    }).catch((thrown: unknown) => thrown);
    await store.close();
    const said =
      'The store in Redis (keys {gate}:*) cannot be used: it does not answer, or is still loading its data. Check that it is running, and its address.';
    expect(failure).toMatchObject({ code: 'store_unavailable', message: said });
    expect(warn).toHaveBeenCalledTimes(1);
    expect(end).toHaveBeenCalledTimes(1);
    const typed = { command: 'coursegate serve', config: 'c.yaml', argument: undefined };
    expect(describeFailure(failure, typed)).toMatchObject({ code: 69, text: expect.stringContaining(said) });
  });
});
