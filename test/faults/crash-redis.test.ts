import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe } from 'vitest';
import { type ChaosProxy, startChaosProxy } from '../support/chaos-proxy.ts';
import { redisPresent, startRedis } from '../support/redis.ts';
import { crashRounds, type Victim } from './crash-rounds.ts';
import { familiesInRedis } from './families.ts';
import { gateProcess } from './gate-process.ts';

/** Recognises a commit on the wire: its mutations are JSON. */
const COMMIT = /\[\{"op":/;

/**
 * A gate on Redis through a proxy. Besides the moments for every store, the gate is killed at two points of a commit that
 * the proxy can see: sent but not received, and applied but not acknowledged. Redis itself is killed as well.
 */
async function gateOnRedis(appendOnly: 'always' | 'everysec'): Promise<Victim> {
  const redis = await startRedis({ appendOnly });
  const proxy: ChaosProxy = await startChaosProxy({ path: redis.socket });
  const admin = new Redis(redis.url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
  admin.on('error', () => {});
  const gate = await gateProcess({
    environment: {
      COURSEGATE__STORE: '{ kind: redis, url: { env: REDIS_URL } }',
      COURSEGATE__SECRET: '{ env: COURSEGATE_SECRET }',
      REDIS_URL: `redis://127.0.0.1:${proxy.port}`,
      COURSEGATE_SECRET: 'k'.repeat(32),
    },
  });
  const killWhen = async (at: 'request' | 'answer', done: Promise<unknown>) => {
    // Some requests need no commit, so there may be fewer.
    await Promise.race([proxy.reached({ pattern: COMMIT, at, after: randomInt(0, 6) }), done]);
    await gate.kill();
    proxy.heal();
  };
  return {
    gate,
    families: () => familiesInRedis(admin),
    ills: {
      'with a commit on its way': (done) => killWhen('request', done),
      'with a commit applied and its answer on its way': (done) => killWhen('answer', done),
      async 'after Redis was killed'() {
        await sleep(randomInt(0, 16));
        await redis.kill();
        // Requests in progress get an error; then the gate is killed too, as if the machine had died.
        await sleep(randomInt(0, 30));
        await gate.kill();
        await redis.start();
      },
    },
    async close() {
      await gate.close();
      admin.disconnect();
      await proxy.close();
      await redis.close();
    },
  };
}

describe.skipIf(!redisPresent())('the gate on Redis, killed while it issues, rotates and revokes', () => {
  crashRounds(() => gateOnRedis('always'));
});
