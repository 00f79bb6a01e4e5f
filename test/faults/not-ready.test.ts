import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';
import { type GateProcess, gateProcess } from './gate-process.ts';

/** Whether anything answers at this address. */
function listens(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

describe('a gate that cannot use its store', () => {
  const closers: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).toReversed()) await close();
  });

  /** Starts the gate, checks its listeners until it has ended, and returns the result. */
  async function attempt(gate: GateProcess) {
    const began = gate.start().then(
      () => 'ready' as const,
      () => 'ended' as const,
    );
    let heard = false;
    for (let over = false; !over; ) {
      over = (await Promise.race([began, new Promise((resolve) => setTimeout(resolve, 50))])) !== undefined;
      if (!over) for (const url of [gate.origin, gate.admin]) heard ||= await listens(url);
    }
    const became = await began;
    return { became, heard, exit: became === 'ready' ? undefined : await gate.exited(), said: gate.output() };
  }

  it.skipIf(!redisPresent())(
    'because Redis hangs accepts no request, exits with the reason, and starts once Redis responds',
    async () => {
      const redis: RedisServer = await startRedis();
      closers.push(() => redis.close());
      const gate = await gateProcess({
        environment: {
          COURSEGATE__STORE: '{ kind: redis, url: { env: REDIS_URL } }',
          COURSEGATE__SECRET: '{ env: TEST_SECRET }',
          REDIS_URL: redis.url,
          TEST_SECRET: 'k'.repeat(40),
        },
      });
      closers.push(() => gate.close());
      redis.hang();
      try {
        const { became, heard, exit, said } = await attempt(gate);
        expect({ became, heard }, said).toEqual({ became: 'ended', heard: false });
        expect(exit).not.toBe(0);
        expect(said).toContain('Redis');
        expect(said).not.toContain('coursegate ready');
      } finally {
        redis.resume();
      }
      await gate.start();
      expect((await fetch(`${gate.admin}/readyz`)).status).toBe(200);
    },
  );
});
