import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Log } from '../../src/operations/log.ts';
import { IN_TIME } from '../storage/failing-store.ts';
import { type App, authorizationRequest, bearer, postForm, registerApp, revoke } from '../support/app.ts';
import { createBrowser } from '../support/browser.ts';
import { type ChaosProxy, startChaosProxy } from '../support/chaos-proxy.ts';
import { approved, connect, refreshForm, statusOf, type Tokens, token } from '../support/connection.ts';
import { timeOf } from '../support/pace.ts';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';
import { startWorld, type World } from '../support/world.ts';

const SECRET = 'k'.repeat(32);

describe.skipIf(!redisPresent())('a gate whose Redis is failing', () => {
  let redis: RedisServer;
  let proxy: ChaosProxy;
  let admin: Redis;
  let world: World;
  let replica: World;
  let app: App;
  let ahead = 0;
  /** The failures that the gate logged: the message of each and of its cause. */
  let said: string[] = [];

  beforeAll(async () => {
    redis = await startRedis({ appendOnly: true, args: ['--busy-reply-threshold', '50'] });
    proxy = await startChaosProxy({ path: redis.socket });
    admin = new Redis(redis.url);
    const record = (line: unknown, message?: string) => {
      const { err } = (line ?? {}) as { err?: Error };
      const cause = err?.cause instanceof Error ? err.cause.message : '';
      said.push([message, err?.message, cause].join(' '));
    };
    const log = { level: 'silent', debug() {}, info() {}, warn: record, error: record } as unknown as Log;
    const through = (url: string) => ({ REDIS_URL: url, COURSEGATE_SECRET: SECRET });
    const shared = { profile: 'A', clock: () => Date.now() + ahead, log };
    const overrides = { store: { kind: 'redis', url: { env: 'REDIS_URL' } }, secret: { env: 'COURSEGATE_SECRET' } };
    world = await startWorld({ ...shared, environment: through(`redis://127.0.0.1:${proxy.port}`), overrides });
    const upstreams = Object.fromEntries(Object.entries(world.school.urls).map(([name, url]) => [name, { url }]));
    const same = { ...overrides, origin: world.origin, upstreams };
    replica = await startWorld({ ...shared, environment: through(redis.url), overrides: same });
    app = await registerApp(world.origin);
  });
  afterAll(async () => {
    await replica.close();
    await world.close();
    admin.disconnect();
    await proxy.close();
    await redis.close();
  });
  afterEach(async () => {
    proxy.heal();
    await well();
    ahead = 0;
    said = [];
  });

  const fresh = async () => (await connect(app)) as unknown as Tokens;
  const rotate = ({ refresh_token }: Tokens) => token(app, refreshForm(app, refresh_token));
  const well = () =>
    expect.poll(async () => (await rotate(await fresh().catch(() => ({}) as Tokens))).status).toBe(200);

  /** Everything that needs the store responds with 503 and Retry-After in time, and the log says why. */
  const isUnavailable = async (tokens: Tokens, reason: RegExp) => {
    const registration = { client_name: 'Late', redirect_uris: [app.redirectUri] };
    const { url } = await authorizationRequest(app);
    const asked: readonly (() => Promise<Response>)[] = [
      () => fetch(url, { redirect: 'manual' }),
      () => postForm(app.server.token_endpoint, refreshForm(app, tokens.refresh_token)),
      () =>
        fetch(String(app.server.registration_endpoint), {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(registration),
        }),
    ];
    for (const ask of asked) {
      const refused = async () => {
        const answer = await ask();
        const text = await answer.text();
        expect([answer.status, text]).toEqual([503, expect.not.stringMatching(/invalid_(grant|token|client)/)]);
        expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
      };
      expect(await timeOf(refused)).toBeLessThan(IN_TIME);
    }
    expect(said.join('\n')).toMatch(reason);
    expect(said.join('\n')).not.toContain(tokens.refresh_token);
  };

  it.each([
    ['responds half a second late', () => proxy.delay(() => 500)],
    ['responds up to two seconds late', () => proxy.delay(() => 900 + Math.random() * 1100)],
    ['accepts requests and never responds', () => proxy.blackhole()],
    ['refuses connections', () => proxy.refuse()],
  ])('returns 503 in time while it %s, and loses nothing', async (_, befall) => {
    const tokens = await fresh();
    befall();
    await isUnavailable(tokens, /./);
    // Anonymous requests still work.
    expect((await fetch(`${world.origin}/.well-known/oauth-authorization-server`)).status).toBe(200);
    expect((await fetch(`${world.origin}/`)).status).toBe(200);
    proxy.heal();
    await expect.poll(async () => (await rotate(tokens)).status).toBe(200);
  });

  it('repeats an answer after its window when the repeats until then failed because of Redis', async () => {
    const tokens = await fresh();
    const lost = await rotate(tokens);
    expect(lost.status).toBe(200);
    proxy.refuse();
    await expect.poll(async () => (await rotate(tokens)).status).toBe(503);
    proxy.heal();
    await well();
    // The window is ten seconds. Redis was there again before anything else noticed.
    ahead = 12_000;
    const again = await rotate(tokens);
    expect([again.status, again.body.refresh_token]).toEqual([200, lost.body.refresh_token]);
  });

  it.each([20, 100, 300])(
    'issues at most one set of tokens for a code sent twenty times at once, with %i ms of delay',
    async (delay) => {
      const { form } = await approved(app);
      proxy.delay(() => Math.random() * delay);
      const answers = await Promise.all(Array.from({ length: 20 }, () => token(app, form)));
      proxy.heal();
      await expect.poll(async () => (await token(app, form)).status).toBe(400);
      // A 503 may have redeemed the code.
      expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
      expect(new Set(answers.map(({ status }) => status))).not.toContain(500);
    },
  );

  it('revokes at every replica within five seconds without pub/sub, and at once when it is back', async () => {
    const [first, second] = [await fresh(), await fresh()];
    for (const { access_token } of [first, second]) expect(await statusOf(world.origin, access_token)).toBe(200);
    // The connections that subscribe are blackholed, and so are all that replace them.
    proxy.blackholeThose(/subscribe\r\n/i);
    const cutOff = async ({ access_token }: Tokens) =>
      postForm(`${replica.origin}/api/oauth/revoke`, { token: access_token, client_id: app.client.client_id });
    expect((await cutOff(first)).status).toBe(200);
    expect(await statusOf(replica.origin, first.access_token)).toBe(401);
    expect(await statusOf(world.origin, first.access_token)).toBe(200);
    ahead += 5000;
    expect(await statusOf(world.origin, first.access_token)).toBe(401);

    expect(await statusOf(world.origin, second.access_token)).toBe(200);
    expect((await cutOff(second)).status).toBe(200);
    expect(await statusOf(world.origin, second.access_token)).toBe(200);
    proxy.heal();
    // Less than the five seconds for which a decision is cached.
    await expect.poll(() => statusOf(world.origin, second.access_token), { timeout: 4000 }).toBe(401);
  });

  it('reads and revokes when Redis is out of memory, and returns 503 for other writes', async () => {
    const [tokens, cut] = [await fresh(), await fresh()];
    await admin.config('SET', 'maxmemory', '1');
    try {
      expect(await statusOf(world.origin, tokens.access_token)).toBe(200);
      await isUnavailable(tokens, /OOM/);
      await revoke(app, cut.refresh_token);
      expect(await statusOf(world.origin, cut.access_token)).toBe(401);
    } finally {
      await admin.config('SET', 'maxmemory', '0');
    }
    expect((await rotate(tokens)).status).toBe(200);
  });

  it('returns 503 and logs the reason when Redis wants more replicas than it has', async () => {
    const tokens = await fresh();
    await admin.config('SET', 'min-replicas-to-write', '1');
    try {
      await isUnavailable(tokens, /NOREPLICAS/);
    } finally {
      await admin.config('SET', 'min-replicas-to-write', '0');
    }
    expect((await rotate(tokens)).status).toBe(200);
  });

  it('returns 503 for a used code when Redis stops answering before it has refused it', async () => {
    const { form } = await approved(app);
    const { body } = await token(app, form);
    void proxy.reached({ pattern: /\[\{"op":/, at: 'request' });
    expect((await token(app, form)).status).toBe(503);
    proxy.heal();
    await expect.poll(() => token(app, form)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(await statusOf(world.origin, body.access_token)).toBe(200);
  });

  it('returns 503 and logs the reason when its user may no longer run scripts', async () => {
    const tokens = await fresh();
    await admin.call('ACL', 'SETUSER', 'default', '-eval', '-evalsha');
    try {
      await isUnavailable(tokens, /NOPERM/);
    } finally {
      await admin.call('ACL', 'SETUSER', 'default', '+eval', '+evalsha');
    }
    expect((await rotate(tokens)).status).toBe(200);
  });

  it('returns 503 and logs the reason when Redis is busy with another script', async () => {
    const tokens = await fresh();
    const other = new Redis(redis.url);
    const endless = other.eval('while true do end', 0).catch(() => {});
    try {
      await expect.poll(() => admin.ping().catch((error: Error) => error.message)).toMatch(/BUSY/);
      await isUnavailable(tokens, /BUSY/);
    } finally {
      await admin.call('SCRIPT', 'KILL');
      await endless;
      other.disconnect();
    }
    await expect.poll(async () => (await rotate(tokens)).status).toBe(200);
  });

  it('returns 503 and logs the reason when its keys hold foreign data', async () => {
    const tokens = await fresh();
    await admin.rename('{coursegate}:expiry', 'aside');
    await admin.set('{coursegate}:expiry', 'of another program');
    try {
      await isUnavailable(tokens, /WRONGTYPE/);
    } finally {
      await admin.rename('aside', '{coursegate}:expiry');
    }
    expect((await rotate(tokens)).status).toBe(200);
  });

  it('returns 503 during a sign-in whose app cannot be looked up, instead of ignoring its requirements', async () => {
    const key = '{coursegate}:entry:Client:*';
    const known = new Set(await admin.keys(key));
    const strict = await registerApp(world.origin, { metadata: { require_auth_time: true } as never });
    const [record = ''] = (await admin.keys(key)).filter((one) => !known.has(one));
    const browser = createBrowser();
    const { url } = await authorizationRequest(strict);
    const { location = '' } = await browser.open(url, () => false);
    const step = () => browser.open(location, () => false);
    await admin.rename(record, 'aside');
    await admin.set(record, 'of another program');
    try {
      expect((await step()).status).toBe(503);
      expect(said.join('\n')).toMatch(/WRONGTYPE/);
    } finally {
      await admin.rename('aside', record);
    }
    expect(await step()).toMatchObject({ status: 303, location: expect.stringContaining('/login') });
  });

  it.each([
    ['a foreign payload', ['payload', 'garbage']],
    ['no payload at all', ['payload', '']],
    ['a payload of 20 MB', ['payload', 'A'.repeat(20_000_000)]],
    ['an invalid expiry', ['expiresAt', 'tomorrow']],
  ])('treats a record with %s as absent, and serves all others', async (name, [field = '', value = '']) => {
    const known = new Set(await admin.keys('{coursegate}:entry:AccessToken:*'));
    const damaged = await fresh();
    const [key = ''] = (await admin.keys('{coursegate}:entry:AccessToken:*')).filter((one) => !known.has(one));
    const sound = await fresh();
    await admin.hset(key, field, value);
    const answer = await fetch(`${world.origin}/api/v1/whoami`, { headers: bearer(damaged.access_token) });
    expect(answer.status).toBe(401);
    if (field === 'payload') expect(said.join('\n')).toContain('damaged');
    expect([name, await statusOf(world.origin, sound.access_token)]).toEqual([name, 200]);
    expect((await fetch(`${world.admin}/livez`)).status).toBe(200);
  });
});
