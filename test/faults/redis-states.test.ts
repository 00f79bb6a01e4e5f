import { mkdirSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type App, postForm, registerApp } from '../support/app.ts';
import { approved, connect, refreshForm, statusOf, type Tokens, token } from '../support/connection.ts';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';
import { gateProcess } from './gate-process.ts';

const REFUSED = { status: 503, body: { error: 'temporarily_unavailable' } };

/** States in which a running Redis refuses writes, by the first word of its error. */
const STATES: Readonly<
  Record<
    string,
    {
      enter(admin: Redis, redis: RedisServer): Promise<unknown>;
      leave(admin: Redis, redis: RedisServer): Promise<unknown>;
    }
  >
> = {
  MISCONF: {
    async enter(admin, { socket }) {
      // A snapshot cannot replace a folder.
      mkdirSync(join(dirname(socket), 'dump.rdb'));
      await admin.config('SET', 'save', '3600 1');
      await admin.bgsave();
    },
    async leave(admin, { socket }) {
      rmdirSync(join(dirname(socket), 'dump.rdb'));
      await admin.bgsave();
    },
  },
  OOM: {
    enter: (admin) => admin.config('SET', 'maxmemory', '1mb'),
    leave: (admin) => admin.config('SET', 'maxmemory', '0'),
  },
  READONLY: {
    enter: (admin) => admin.replicaof('127.0.0.1', 1),
    leave: (admin) => admin.replicaof('NO', 'ONE'),
  },
};

describe.skipIf(!redisPresent())('a gate whose Redis refuses writes', () => {
  it.each(Object.entries(STATES))(
    'answers 503 while it says %s, ends nothing, and goes on without a restart',
    async (word, { enter, leave }) => {
      const redis = await startRedis({ appendOnly: true });
      onTestFinished(() => redis.close());
      const admin = new Redis({ path: redis.socket });
      onTestFinished(() => admin.disconnect());
      const gate = await gateProcess({
        environment: {
          COURSEGATE__STORE: '{ kind: redis, url: { env: REDIS_URL } }',
          COURSEGATE__SECRET: '{ env: COURSEGATE_SECRET }',
          REDIS_URL: redis.url,
          COURSEGATE_SECRET: 'k'.repeat(32),
        },
      });
      onTestFinished(() => gate.close());
      await gate.start();
      const app: App = await registerApp(gate.origin);
      const held = (await connect(app)) as unknown as Tokens;
      const cut = (await connect(app)) as unknown as Tokens;
      const { form } = await approved(app);
      const revoke = () =>
        postForm(String(app.server.revocation_endpoint), { client_id: app.client.client_id, token: cut.refresh_token });
      const readiness = async () => (await fetch(`${gate.admin}/readyz`)).status;

      await enter(admin, redis);
      const said = () => admin.set('probe', 'x').then(String, String);
      await expect.poll(said).toContain(word);
      for (let at = 0; at < 3; at += 1) {
        expect(await token(app, refreshForm(app, held.refresh_token))).toMatchObject(REFUSED);
        expect(await token(app, form)).toMatchObject(REFUSED);
        // What only deletes may need no memory. Then it holds.
        const { status } = await revoke();
        expect(word === 'OOM' ? [200, 503] : [503]).toContain(status);
        if (status === 200) expect(await statusOf(gate.origin, cut.access_token)).toBe(401);
        expect([200, 503]).toContain(await statusOf(gate.origin, held.access_token));
      }
      await expect.poll(readiness).toBe(503);

      await leave(admin, redis);
      await expect.poll(said).toBe('OK');
      await expect.poll(readiness).toBe(200);
      expect(await statusOf(gate.origin, held.access_token)).toBe(200);
      expect(await token(app, refreshForm(app, held.refresh_token))).toMatchObject({ status: 200 });
      expect(await token(app, form)).toMatchObject({ status: 200 });
      expect((await revoke()).status).toBe(200);
      expect(await statusOf(gate.origin, cut.access_token)).toBe(401);
    },
  );
});
