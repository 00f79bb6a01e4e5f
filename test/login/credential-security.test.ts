import { argon2Sync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ownCookie } from '../../src/authorization-server/cookies.ts';
import { createBrowser } from '../support/browser.ts';
import { redisPresent, startRedis } from '../support/redis.ts';
import { post, type SignInWorld, startSignIn } from './support/sign-in.ts';

/** For the password `right`, with the lowest possible cost. */
const SALT = Buffer.from('salt of sixteen.');
const COST = { parallelism: 1, tagLength: 32, memory: 8, passes: 1 };
const TAG = argon2Sync('argon2id', { message: 'right', nonce: SALT, ...COST });
const base64 = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
const HASH = `$argon2id$v=19$m=8,t=1,p=1$${base64(SALT)}$${base64(TAG)}`;

const folder = mkdtempSync(join(tmpdir(), 'coursegate-members-'));
const file = join(folder, 'members.yaml');
writeFileSync(
  file,
  `members:\n${['ann', 'bob'].map((name) => `  - { id: ${name}-1, login: ${name}, password: '${HASH}' }\n`).join('')}`,
);

const time = { ahead: 0 };
const clock = () => Date.now() + time.ahead;
const login = { kind: 'directory', file };
const listen = { trustedProxies: ['loopback'] };
const from = (address: string) => ({ 'x-forwarded-for': address });

let gate: SignInWorld;
beforeAll(async () => {
  gate = await startSignIn(login, { clock, overrides: { listen } });
});
afterAll(async () => {
  await gate.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  time.ahead += 16 * 60_000;
});

const times = async (count: number, username: string, password: string, address: string, at = gate) => {
  const statuses: number[] = [];
  for (let turn = 0; turn < count; turn += 1) {
    statuses.push((await at.attempt(username, password, from(address))).status);
  }
  return statuses;
};

describe('guessing a password', () => {
  it('is stopped after ten attempts in 15 minutes, even with the right password, and the page says how long', async () => {
    expect(new Set(await times(10, 'ann', 'wrong', '203.0.113.1'))).toEqual(new Set([400]));
    const page = await gate.attempt('ann', 'right', from('203.0.113.1'));
    expect(page.status).toBe(429);
    expect(page.headers.get('retry-after')).toMatch(/^(900|8\d\d)$/);
    expect(page.text).toMatch(/Try again in <bdi>1[45] minutes<\/bdi>/);
    expect(page.headers.getSetCookie().join()).not.toContain('coursegate_member');
    time.ahead += 15 * 60_000;
    expect(await times(1, 'ann', 'right', '203.0.113.1')).toEqual([303]);
  });

  it('locks out only the guesser, not the owner elsewhere or another account', async () => {
    await times(11, 'ann', 'wrong', '203.0.113.2');
    expect(await times(1, 'ann', 'right', '203.0.113.3')).toEqual([303]);
    expect(await times(1, 'bob', 'right', '203.0.113.2')).toEqual([303]);
  });

  it.each([' ann', 'ANN', 'ａｎｎ'])('counts for the same account when it is spelled %j', async (spelled) => {
    await times(10, 'ann', 'wrong', '203.0.113.4');
    expect(await times(1, spelled, 'wrong', '203.0.113.4')).toEqual([429]);
  });

  it('of many accounts is stopped after a hundred attempts', async () => {
    const { browser, page } = await gate.open();
    const attempt = (username: string, password: string) =>
      post(browser, page, { username, password }, from('203.0.113.5'));
    for (let at = 0; at < 100; at += 1) expect((await attempt(`someone-${at}`, 'Summer2026')).status).toBe(400);
    expect((await attempt('someone-101', 'Summer2026')).status).toBe(429);
    expect((await attempt('ann', 'right')).status).toBe(429);
  });

  it('counts for a whole /64 of IPv6, and cannot be hidden behind forged addresses', async () => {
    await times(10, 'ann', 'wrong', '2001:db8:1:2::1');
    expect(await times(1, 'ann', 'wrong', '2001:db8:1:2:ffff::9')).toEqual([429]);
    expect(await times(1, 'ann', 'wrong', '2001:db8:1:3::1')).toEqual([400]);
    for (let at = 0; at < 10; at += 1) await times(1, 'bob', 'wrong', `198.51.100.${at}, 203.0.113.6`);
    expect(await times(1, 'bob', 'wrong', '198.51.100.77, 203.0.113.6')).toEqual([429]);
  });
});

describe('a sign-in form', () => {
  const stranger = (cookies: readonly string[]) => expect(cookies.join()).not.toContain('coursegate_member');

  it.each([
    { origin: 'https://evil.test' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
  ] as Record<string, string>[])('sent with %o is refused, with any password', async (headers) => {
    const page = await gate.attempt('ann', 'right', headers);
    expect(page.status).toBe(403);
    stranger(page.headers.getSetCookie());
  });

  it('made for another browser or another way back is refused, and so is one without a token', async () => {
    const [attacker, victim] = [await gate.open(), await gate.open()];
    const typed = { username: 'ann', password: 'right' };
    const refused = [
      await post(victim.browser, attacker.page, typed),
      await post(createBrowser(), attacker.page, typed),
      await post(victim.browser, victim.page, { ...typed, csrf: '' }),
      await post(victim.browser, victim.page, { ...typed, return_to: '/oauth/apps' }),
    ];
    for (const page of refused) {
      expect(page.status).toBe(403);
      stranger(page.headers.getSetCookie());
    }
    expect((await post(victim.browser, victim.page, typed)).status).toBe(303);
  });

  it.each([
    'return_to=https://evil.test/',
    'return_to=//evil.test/oauth/apps',
    'return_to=/\\evil.test',
    'return_to=/courses',
    'return_to=/api/oauth/userinfo',
    'return_to=/oauth//evil',
    'return_to=/oauth/../courses',
    'return_to=/oauth/apps/../../courses',
    'return_to=/oauth/apps\\evil.test',
    'return_to=/oauth/apps%0a',
    'return_to=/oauth/apps%23x',
    'return_to=/oauth/apps%3Fx=/',
    `return_to=/oauth/${'x'.repeat(513)}`,
    `return_to=/oauth/apps%3F${'x'.repeat(513)}`,
    'return_to=x/oauth/apps',
    'return_to=/oauth/apps&return_to=/oauth/interaction/x',
    'return_to=',
    '',
  ])('returns only to the gate’s own pages, not to %j', async (query) => {
    const page = await fetch(`${gate.world.origin}/oauth/sign-in?${query}`, { redirect: 'manual' });
    expect(page.status).toBe(400);
    expect(await page.text()).not.toContain('id="password"');
  });

  it('starts a new session at each sign-in, and never signs in an existing one', async () => {
    const { browser, page } = await gate.open();
    const preset = 'A'.repeat(43);
    for (const name of ['coursegate_member', '__Host-coursegate_member', '__Secure-coursegate_member']) {
      browser.cookies.set(name, { value: preset, path: '/' });
    }
    const answer = await post(browser, page, { username: 'ann', password: 'right' });
    expect(answer.status).toBe(303);
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^coursegate_member=(?!A{43})[\w-]{43}; Path=\/; Max-Age=[1-9]\d+; HttpOnly; SameSite=Lax$/,
      ),
      'coursegate_sign_in=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax',
    ]);
    const thief = createBrowser();
    thief.cookies.set('coursegate_member', { value: preset, path: '/' });
    expect((await gate.open(thief)).page.text).toContain('id="username"');
  });

  it('sets cookies that a subdomain cannot set, and that are sent only over TLS, where there is TLS', () => {
    expect(ownCookie('https://school.example', 'member').set('x', 60)).toBe(
      '__Host-coursegate_member=x; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure',
    );
  });

  it('keeps the name and the way back after a wrong password, and never shows the password', async () => {
    const { browser, page } = await gate.open();
    const again = await post(browser, page, { username: 'a"><b>nn', password: 'canary-7c1f' });
    expect(again.text).toContain('value="a&quot;&gt;&lt;b&gt;nn"');
    expect(again.text).toMatch(/<input id="password"[^>]* autofocus/);
    expect(again.text).not.toContain('canary-7c1f');
    const done = await post(browser, again, { username: 'ann', password: 'right' });
    expect(done.status).toBe(303);
    expect(done.location).toMatch(/^\/oauth\/interaction\//);
  });

  it('does not reveal whether such a member exists', async () => {
    const seen = async (username: string) => {
      const page = await gate.attempt(username, 'wrong', from('203.0.113.9'));
      const volatile = /^(date|x-request-id|set-cookie|keep-alive)$/;
      return {
        status: page.status,
        text: page.text
          .replaceAll(username, 'NAME')
          .replace(/(name="(?:csrf|return_to)" value="|action="\/oauth\/interaction\/)[^"]*/g, '$1'),
        fields: [...page.headers].filter(([name]) => !volatile.test(name)),
        cookies: page.headers.getSetCookie().map((line) => line.replace(/=[^;]*/, '=')),
      };
    };
    expect(await seen('xyz')).toEqual(await seen('ann'));
  });

  it('leaves typed credentials in no log or store file', async () => {
    const canary = 'canary-55e0b1';
    await gate.attempt('ann', canary, from('203.0.113.10'));
    await gate.attempt('ann', canary, { ...from('203.0.113.10'), origin: 'https://evil.test' });
    await fetch(`${gate.world.origin}/oauth/sign-in`, { method: 'POST', body: `password=${canary}&%zz` });
    await fetch(`${gate.world.origin}/oauth/sign-in`, { method: 'PUT', body: `password=${canary}` });
    await gate.connect('ann', 'right');
    await vi.waitFor(() => expect(gate.written()).toContain('ann-1'), { timeout: 30_000 });
    await vi.waitFor(() => expect(gate.written()).toContain('/oauth/sign-in'), { timeout: 30_000 });
    expect(gate.written()).not.toContain(canary);
  });
});

describe.skipIf(!redisPresent())('the attempts at two replicas', () => {
  it('are counted together, also over a restart', async () => {
    const redis = await startRedis();
    const shared = {
      environment: { REDIS_URL: redis.url, COURSEGATE_SECRET: 'k'.repeat(32) },
      overrides: { listen, store: { kind: 'redis', url: { env: 'REDIS_URL' } }, secret: { env: 'COURSEGATE_SECRET' } },
    };
    const [one, two] = [await startSignIn(login, shared), await startSignIn(login, shared)];
    try {
      expect(await times(11, 'ann', 'wrong', '203.0.113.20', one)).toContain(429);
      const seen: number[] = [];
      await vi.waitFor(
        async () => {
          seen.push(...(await times(1, 'ann', 'wrong', '203.0.113.20', two)));
          expect(seen.at(-1)).toBe(429);
        },
        { timeout: 60_000 },
      );
      expect(seen.length).toBeLessThan(10);
      await one.world.restart();
      const after: number[] = [];
      await vi.waitFor(
        async () => {
          after.push(...(await times(1, 'ann', 'wrong', '203.0.113.20', one)));
          expect(after.at(-1)).toBe(429);
        },
        { timeout: 60_000 },
      );
      expect(after.length).toBeLessThan(10);
    } finally {
      await one.close();
      await two.close();
      await redis.close();
    }
  });

  it.each(['kill', 'hang'] as const)(
    'are counted separately while Redis is unavailable (%s), with the same limit',
    async (end) => {
      const redis = await startRedis();
      const one = await startSignIn(login, {
        environment: { REDIS_URL: redis.url, COURSEGATE_SECRET: 'k'.repeat(32) },
        overrides: {
          listen,
          store: { kind: 'redis', url: { env: 'REDIS_URL' } },
          secret: { env: 'COURSEGATE_SECRET' },
        },
      });
      try {
        const { browser, page } = await one.open();
        const statuses = async (count: number, address: string, password = 'wrong') => {
          const got: number[] = [];
          for (let turn = 0; turn < count; turn += 1) {
            got.push((await post(browser, page, { username: 'ann', password }, from(address))).status);
          }
          return got;
        };
        expect(await statuses(4, '203.0.113.21')).toEqual([400, 400, 400, 400]);
        await redis[end]();
        // Attempts counted before the failure still count, and the limit is the same.
        expect(await statuses(7, '203.0.113.21')).toEqual([400, 400, 400, 400, 400, 400, 429]);
        expect(await statuses(11, '203.0.113.22')).toEqual([...Array(10).fill(400), 429]);
        // The correct password is verified, but the session cannot be stored: the response is 503, not 429.
        expect(await statuses(1, '203.0.113.23', 'right')).toEqual([503]);
        expect(await statuses(1, '203.0.113.22', 'right')).toEqual([429]);
      } finally {
        redis.resume();
        await one.close();
        await redis.close();
      }
    },
  );
});
