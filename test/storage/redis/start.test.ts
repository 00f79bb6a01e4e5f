import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { redisCounters } from '../../../src/storage/redis/counters.ts';
import { type RedisOptions, redisStore } from '../../../src/storage/redis/redis-store.ts';
import { checkRedisAtStart } from '../../../src/storage/redis/start.ts';
import { type Authority, createAuthority } from '../../support/certificates.ts';
import { type RedisServer, redisPresent, startRedis } from '../../support/redis.ts';
import { freePort } from '../../support/world.ts';

const PASSWORD = 'hunter2-hunter2';
const EXAMPLE = new URL('../../../config/examples/redis.yaml', import.meta.url);

/** Runs the check as at start. Returns the warnings. */
async function check(options: Omit<RedisOptions, 'keyPrefix'>, over: object = {}): Promise<readonly string[]> {
  const all = { keyPrefix: 'gate', ...options, ...over };
  const store = redisStore(all, Date.now);
  try {
    return await checkRedisAtStart(all, store);
  } finally {
    await store.close();
  }
}

const refusal = (...given: Parameters<typeof check>) =>
  check(...given).then(
    (warnings) => `started, with ${JSON.stringify(warnings)}`,
    (error: Error) => error.message,
  );

describe.skipIf(!redisPresent())('at the start, a Redis', () => {
  const closing: (() => Promise<void> | void)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
  const start = async (...given: Parameters<typeof startRedis>): Promise<{ server: RedisServer; admin: Redis }> => {
    const server = await startRedis(...given);
    const admin = new Redis(server.url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
    admin.on('error', () => {});
    closing.push(() => server.close());
    closing.push(() => admin.disconnect());
    return { server, admin };
  };

  it('that persists its data is accepted without a warning', async () => {
    const { server, admin } = await start({ appendOnly: 'everysec' });
    expect(await check(server)).toEqual([]);
    expect(await admin.keys('*')).toEqual([]);
  });

  it.each(['allkeys-lru', 'volatile-ttl', 'volatile-lru', 'allkeys-random'])(
    'that may evict keys (%s) is refused',
    async (policy) => {
      const { server } = await start({ appendOnly: true, args: ['--maxmemory-policy', policy] });
      expect(await refusal(server)).toContain(`maxmemory-policy is ${policy}`);
    },
  );

  it('without an append-only file, or without fsync, causes a warning', async () => {
    const forgetful = await start();
    expect(await check(forgetful.server)).toEqual([expect.stringContaining('no append-only file')]);
    const lazy = await start({ appendOnly: true, args: ['--appendfsync', 'no'] });
    expect(await check(lazy.server)).toEqual([expect.stringContaining('appendfsync no')]);
  });

  it('that forbids CONFIG is checked with INFO, and otherwise causes a warning', async () => {
    const { server, admin } = await start({ appendOnly: true, args: ['--maxmemory-policy', 'allkeys-lru'] });
    await admin.call('ACL', 'SETUSER', 'gate', 'on', `>${PASSWORD}`, '~*', '&*', '+@all', '-config');
    const access = { username: 'gate', password: PASSWORD };
    expect(await refusal({ ...server, ...access })).toContain('maxmemory-policy is allkeys-lru');
    await admin.call('ACL', 'SETUSER', 'gate', '-info');
    const warnings = await check({ ...server, ...access });
    expect(warnings).toEqual([expect.stringContaining('maxmemory-policy'), expect.stringContaining('append-only')]);
  });

  it('can be used with exactly the permissions of the example', async () => {
    const { server, admin } = await start({ appendOnly: true });
    const [, rules = ''] = /ACL SETUSER gate on >PASSWORD (.+)/.exec(readFileSync(EXAMPLE, 'utf8')) ?? [];
    await admin.call(
      'ACL',
      'SETUSER',
      'gate',
      'on',
      `>${PASSWORD}`,
      ...rules.replaceAll('{coursegate}', '{gate}').split(' '),
    );
    const access = { username: 'gate', password: PASSWORD };
    expect(await check({ ...server, ...access })).toEqual([]);
    const counters = redisCounters({ ...server, ...access, keyPrefix: 'gate' }, 'k', Date.now);
    const rate = { requests: 5, per: 60 };
    counters.add('somebody', rate);
    await expect.poll(() => admin.keys('{gate}:limit*')).toHaveLength(1);
    counters.close();
    // The console and `coursegate secret reseal` read the whole store.
    const store = redisStore({ ...server, ...access, keyPrefix: 'gate' }, Date.now);
    expect(await store.scan(['AccessToken'], undefined, 10)).toMatchObject({ entries: [] });
    await store.close();
    // Each permission is needed: if one is missing, the gate reports it at start.
    for (const needed of [
      'evalsha',
      'hset',
      'zadd',
      'pexpire',
      'persist',
      'setrange',
      'exists',
      'publish',
      'hmget',
      'zrem',
    ]) {
      await admin.call('ACL', 'SETUSER', 'gate', `-${needed}`);
      const message = await refusal({ ...server, username: 'gate', password: PASSWORD });
      expect([needed, message]).toEqual([
        needed,
        expect.stringMatching(/cannot be used: .*(NOPERM|can't run).* Check the ACL/),
      ]);
      expect(message).not.toContain(PASSWORD);
      await admin.call('ACL', 'SETUSER', 'gate', `+${needed}`);
    }
  });

  it('is refused with a wrong or missing password, which is not printed', async () => {
    const { server } = await start({ args: ['--requirepass', PASSWORD] });
    const wrong = await refusal({ ...server, password: 'not-the-password' });
    expect(wrong).toMatch(/cannot be used: WRONGPASS.* Check the user name and the password/);
    expect(wrong).not.toContain('not-the-password');
    expect(await refusal(server)).toMatch(/cannot be used: NOAUTH.* Check the user name and the password/);
  });

  it('accepts a percent-encoded user name and password in the URL', async () => {
    const { server, admin } = await start({ appendOnly: true });
    await admin.call('ACL', 'SETUSER', 'g@te', 'on', '>p@ss/w+rd:%', '~*', '&*', '+@all');
    await admin.call('ACL', 'SETUSER', 'default', 'off');
    const url = `unix://g%40te:p%40ss%2Fw%2Brd%3A%25@localhost${server.socket}`;
    expect(await check({ ...server, url })).toEqual([]);
  });

  it('is refused when it is down, or its prefix contains foreign data', async () => {
    expect(await refusal({ url: 'redis://127.0.0.1:1' })).toMatch(
      /ECONNREFUSED.* Check that it is running, and its address\./,
    );
    const { server, admin } = await start({ appendOnly: true });
    await admin.set('{gate}:expiry', 'of another program');
    expect(await refusal(server)).toMatch(/WRONGTYPE.* choose another `store.keyPrefix`/);
  });

  it('is refused while it cannot write, with its own message', async () => {
    const full = await start({ appendOnly: true, args: ['--maxmemory', '100kb', '--maxmemory-policy', 'noeviction'] });
    expect(await refusal(full.server)).toMatch(/OOM/);
    const lonely = await start({ appendOnly: true, args: ['--min-replicas-to-write', '1'] });
    expect(await refusal(lonely.server)).toMatch(/NOREPLICAS/);
  });

  describe('over TLS', () => {
    let authority: Authority;
    let stranger: Authority;
    beforeAll(() => {
      authority = createAuthority();
      stranger = createAuthority();
    });
    afterAll(() => {
      authority.close();
      stranger.close();
    });

    const secure = async (host: string, days?: number, clients: 'no' | 'yes' = 'no') => {
      const { certFile, keyFile } = authority.issue(host, days);
      const port = await freePort();
      const files = ['--tls-cert-file', certFile, '--tls-key-file', keyFile, '--tls-ca-cert-file', authority.caFile];
      await start({ appendOnly: true, args: ['--tls-port', String(port), ...files, '--tls-auth-clients', clients] });
      return `rediss://localhost:${port}`;
    };

    it('is accepted with its CA, and with a client certificate if it requires one', async () => {
      const { ca } = authority;
      expect(await check({ url: await secure('localhost'), tls: { ca } })).toEqual([]);
      const url = await secure('localhost', 1, 'yes');
      const { cert, key } = authority.issue('gate');
      expect(await check({ url, tls: { ca, cert, key } })).toEqual([]);
      expect(await refusal({ url, tls: { ca } })).toMatch(/(certificate required|ECONNRESET).*`store.tls`/);
    });

    it('is refused with another CA, another name, or an expired certificate', async () => {
      const url = await secure('localhost');
      for (const tls of [undefined, { ca: stranger.ca }]) {
        expect(await refusal({ url, tls })).toMatch(/(unable to verify|self-signed|issuer).*Check `store.tls`/);
      }
      const named = await secure('redis.example');
      const { ca } = authority;
      expect(await refusal({ url: named, tls: { ca } })).toMatch(/does not match certificate.*Check `store.tls`/);
      expect(await check({ url: named, tls: { ca, servername: 'redis.example' } })).toEqual([]);
      expect(await refusal({ url: await secure('localhost', -1), tls: { ca } })).toMatch(/expired.*Check `store.tls`/);
    });
  });
});
