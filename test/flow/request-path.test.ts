import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Admission } from '../../src/upstream/admission.ts';
import { bearer, registerApp } from '../support/app.ts';
import { connect } from '../support/connection.ts';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';
import { startWorld, type World } from '../support/world.ts';

/** Calls `work` for each request that arrives at the gate, before the gate sees it. Returns how to stop that. */
function onArrival(world: World, work: (request: IncomingMessage) => void): () => void {
  const port = Number(new URL(world.origin).port);
  const arrival = channel('http.server.request.start');
  const listener = (message: unknown) => {
    const { request } = message as { request: IncomingMessage };
    if (request.socket.localPort === port) work(request);
  };
  arrival.subscribe(listener);
  return () => void arrival.unsubscribe(listener);
}

describe('a request whose token and assertion are cached', () => {
  let world: World;
  let token: string;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A' });
    token = (await connect(await registerApp(world.origin))).access_token;
  });
  afterAll(() => world.close());

  const ask = async () => {
    const answer = await fetch(`${world.origin}/api/v1/whoami`, { headers: bearer(token) });
    await answer.arrayBuffer();
    return answer.status;
  };

  it('reaches its upstream in the turn in which its head arrives, with no promise in between', async () => {
    let inTurn = false;
    const stop = onArrival(world, () => {
      inTurn = true;
      // Runs as soon as node:http has handed the request over and its listeners have returned.
      queueMicrotask(() => {
        inTurn = false;
      });
    });
    // Every request to an upstream enters here, whichever client sends it.
    const { enter } = Admission.prototype;
    const entered: boolean[] = [];
    vi.spyOn(Admission.prototype, 'enter').mockImplementation(function (this: Admission, stream) {
      entered.push(inTurn);
      return enter.call(this, stream);
    });
    try {
      expect(await ask()).toBe(200);
      expect(await ask()).toBe(200);
    } finally {
      stop();
      vi.restoreAllMocks();
    }
    // The first one waits for the store and for a signature.
    expect(entered).toEqual([false, true]);
  });
});

describe.skipIf(!redisPresent())('a client that leaves while its token is checked', () => {
  let redis: RedisServer;
  let world: World;
  beforeAll(async () => {
    redis = await startRedis();
    world = await startWorld({
      profile: 'A',
      environment: { REDIS_URL: redis.url, COURSEGATE_SECRET: 'k'.repeat(32) },
      overrides: {
        store: { kind: 'redis', url: { env: 'REDIS_URL' } },
        secret: { env: 'COURSEGATE_SECRET' },
        limits: { member: 'unlimited', open: { address: 100, member: 2 } },
      },
    });
  });
  afterAll(async () => {
    await world?.close();
    await redis?.close();
  });

  it('does not count as one of the open requests of its member from then on', async () => {
    const app = await registerApp(world.origin);
    const tokens: string[] = [];
    while (tokens.length < 4) tokens.push((await connect(app)).access_token);
    const last = tokens.pop() as string;
    for (const token of tokens) {
      const arrived = new Promise<IncomingMessage>((resolve) => {
        const stop = onArrival(world, (request) => {
          stop();
          resolve(request);
        });
      });
      redis.hang();
      const client = get(`${world.origin}/api/v1/whoami`, { headers: bearer(token), agent: false });
      client.on('error', () => undefined);
      const { socket } = await arrived;
      const closed = once(socket, 'close');
      client.destroy();
      await closed;
      redis.resume();
      // Until the check of that token is over, which then is cached.
      await expect.poll(() => cachedTokens(world)).toBe(tokens.indexOf(token) + 1);
    }
    expect((await fetch(`${world.origin}/api/v1/whoami`, { headers: bearer(last) })).status).toBe(200);
  });
});

async function cachedTokens(world: World): Promise<number> {
  const text = await (await fetch(`${world.admin}/metrics`)).text();
  return Number(/^coursegate_cache_entries\{cache="tokens"\} (\d+)$/m.exec(text)?.[1]);
}
