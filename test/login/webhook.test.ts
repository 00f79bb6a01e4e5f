import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createBrowser } from '../support/browser.ts';
import { post, type SignInWorld, startSignIn } from './support/sign-in.ts';
import {
  startWebhookBackend,
  WEBHOOK_SECRET,
  type WebhookAnswer,
  type WebhookBackend,
} from './support/webhook-backend.ts';

const login = {
  kind: 'webhook',
  upstream: 'accounts',
  path: '/internal/login?from=gate',
  secret: { env: 'WEBHOOK_SECRET' },
  attempts: { address: 'unlimited' },
};

let backend: WebhookBackend;
let gate: SignInWorld;

const start = (settings: Readonly<Record<string, unknown>> = {}, claims: Readonly<Record<string, unknown>> = {}) =>
  startSignIn(
    { ...login, ...settings },
    {
      environment: { WEBHOOK_SECRET },
      overrides: { claims, upstreams: { accounts: { url: backend.url, timeout: '10m', breaker: { failures: 0 } } } },
    },
  );

beforeAll(async () => {
  backend = await startWebhookBackend();
  gate = await start();
});
afterAll(async () => {
  await gate.close();
  await backend.close();
});
beforeEach(() =>
  backend.says(({ username, password }) => {
    if (username !== 'sam') return { status: 404, body: '{"error":"no such member"}' };
    if (password !== 'sam’s "own" pässword') return { status: 401, body: '{"error":"wrong password"}' };
    return { body: '{"sub":"1001","email":"sam@school.test","email_verified":true,"name":"Sam Student"}' };
  }),
);

describe('the webhook', () => {
  it('signs a member in, and an app gets what they approve', async () => {
    const { tokens } = await gate.connect('sam', 'sam’s "own" pässword');
    const who = await fetch(`${gate.world.origin}/api/oauth/userinfo`, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    });
    expect(await who.json()).toMatchObject({
      sub: '1001',
      email: 'sam@school.test',
      email_verified: true,
      name: 'Sam Student',
    });
  });

  it('says what the configured claims are read from', async () => {
    const answer = { sub: '1001', user: { roles: ['author'] }, plan: 'gold' };
    backend.says(() => ({ body: JSON.stringify(answer) }));
    const school = await start({}, { roles: { scope: 'profile', from: '/user/roles' } });
    try {
      const { tokens } = await school.connect('sam', 'right');
      expect(tokens.roles).toEqual(['author']);
      expect(tokens).not.toHaveProperty('plan');
    } finally {
      await school.close();
    }
  });

  it('signs no one in whose claim would be one of several', async () => {
    backend.says(() => ({ body: '{"sub":"1001","emails":["a@school.test","b@school.test"]}' }));
    const school = await start({}, { mail: { scope: 'profile', from: '/emails/0' } });
    try {
      expect((await school.attempt('sam', 'right')).status).toBe(503);
    } finally {
      await school.close();
    }
  });

  it('receives the credentials only in the body, with the address, and nothing else of the browser', async () => {
    const asked = backend.requests.length;
    await gate.attempt('sam', 'canary-in-the-body');
    expect(backend.requests.length).toBe(asked + 1);
    const { method, target, body, rawHeaders, values } = backend.last();
    expect(`${method} ${target}`).toBe('POST /internal/login?from=gate');
    expect(JSON.parse(body.toString())).toEqual({
      username: 'sam',
      password: 'canary-in-the-body',
      address: '127.0.0.1',
    });
    expect(target + rawHeaders.join()).not.toMatch(/canary|sam/);
    expect(values('content-type')).toEqual(['application/json']);
    expect(values('cookie')).toEqual([]);
    expect(values('x-forwarded-for')).toEqual(['127.0.0.1']);
    const [, t] = /^t=(\d+),/.exec(values('coursegate-signature')[0] ?? '') ?? [];
    expect(Math.abs(Number(t) - Date.now() / 1000)).toBeLessThan(60);
    await gate.attempt('sam', 'canary-in-the-body');
    expect(new Set(backend.nonces).size).toBe(backend.nonces.length);
  });

  it.each([401, 403, 404])('refuses with wrong credentials when it returns %i', async (status) => {
    backend.says(() => ({ status }));
    const page = await gate.attempt('sam', 'x');
    expect(page.status).toBe(400);
    expect(page.text).toContain('id="problem"');
  });

  it('tells a member that the account is suspended when the signed answer says so with their ID', async () => {
    backend.says(() => ({ status: 403, body: '{"sub":"1001","suspended":true}' }));
    const page = await gate.attempt('sam', 'x');
    expect([page.status, page.text.includes('is suspended, so you can’t sign in here')]).toEqual([403, true]);
    for (const body of ['{"sub":"1001","suspended":false}', '{"sub":"1001","suspended":"no"}', '{}', 'suspended']) {
      backend.says(() => ({ status: 403, body }));
      expect((await gate.attempt('sam', 'x')).status).toBe(400);
    }
    backend.says(() => ({ status: 401, body: '{"sub":"1001","suspended":true}' }));
    expect((await gate.attempt('sam', 'x')).status).toBe(400);
  });

  it.each([
    ['7', '7'],
    [undefined, '60'],
    ['0', '1'],
    ['999999', '3600'],
    ['Fri, 01 Jan 2100 00:00:00 GMT', '60'],
  ])('slows sign-ins down when it returns 429 with Retry-After %s', async (given, expected) => {
    backend.says(() => ({ status: 429, headers: given === undefined ? {} : { 'retry-after': given } }));
    const page = await gate.attempt('sam', 'x');
    expect(page.status).toBe(429);
    expect(page.headers.get('retry-after')).toBe(expected);
  });

  const ill: readonly (readonly [string, WebhookAnswer | 'hang' | 'hang up' | (() => WebhookAnswer)])[] = [
    ['says yes without a signature', { signature: null }],
    ['says no without a signature', { status: 401, signature: null }],
    ['wants no more attempts, without a signature', { status: 429, signature: null }],
    ['signs with another secret', { secret: 'another secret, of 32 characters too' }],
    ['signs no lower-case hexadecimal', { signature: `v1=${'Z'.repeat(64)}` }],
    ['signs, and says a word more', { around: (signature) => `${signature} v1` }],
    ['signs, and says a word before it', { around: (signature) => `t=1,${signature}` }],
    ['signs a no and says yes', { signedStatus: 401 }],
    ['signs another member', { signedBody: '{"sub":"1002"}' }],
    ['repeats an answer that it gave before', () => ({ signedNonce: backend.nonces[0] ?? '' })],
    ['answers 500', { status: 500 }],
    ['answers 400', { status: 400 }],
    ['answers 503, as what stands before it would', { status: 503 }],
    ['answers 201', { status: 201 }],
    ['redirects', { status: 302, headers: { location: '/elsewhere' } }],
    ['answers no JSON', { body: '<!doctype html><h1>Sign in</h1>' }],
    ['answers nothing', { body: '' }],
    ['answers null', { body: 'null' }],
    ['answers a list', { body: '["1001"]' }],
    ['names nobody', { body: '{}' }],
    ['names nobody by an empty id', { body: '{"sub":""}' }],
    ['names nobody by a space', { body: '{"sub":" "}' }],
    ['names nobody by 0', { body: '{"sub":0}' }],
    ['names a list', { body: '{"sub":["1001"]}' }],
    ['names an object', { body: '{"sub":{"id":1}}' }],
    ['names the prototype', { body: '{"__proto__":{"sub":"1001"}}' }],
    ['names somebody with a space', { body: '{"sub":"1001 "}' }],
    ['names somebody with a NUL', { body: '{"sub":"1001\\u0000"}' }],
    ['names somebody with a megabyte', { body: JSON.stringify({ sub: 'x'.repeat(2 ** 20) }) }],
    ['says no usable version', { body: '{"sub":"1001","version":null}' }],
    ['sends 3 MiB', { body: JSON.stringify({ sub: '1001', more: 'x'.repeat(3 * 2 ** 20) }) }],
    ['hangs up', 'hang up'],
  ];
  it.each(ill)('that %s makes the sign-in fail with 503', async (_, answer) => {
    const { browser, page } = await gate.open();
    await gate.attempt('sam', 'x');
    backend.says(() => (typeof answer === 'function' ? answer() : answer));
    const asked = backend.requests.length;
    const told = await post(browser, page, { username: 'sam', password: 'sam’s "own" pässword' });
    expect(told.status).toBe(503);
    expect(told.text).toContain('id="error"');
    expect(told.headers.get('retry-after')).toBeTruthy();
    expect(told.headers.getSetCookie().join()).not.toContain('coursegate_member');
    expect(backend.requests.length).toBe(asked + 1);
  });

  it('leaves typed credentials in no log or store file', async () => {
    const canary = 'canary-2b9d40';
    const said: readonly (WebhookAnswer | 'hang up')[] = [
      { body: '{"sub":"1001"}' },
      { status: 401, body: `{"error":"not ${canary}"}` },
      { status: 429, body: canary },
      { status: 500, body: `no such column: ${canary}` },
      { status: 302, headers: { location: `/elsewhere?password=${canary}` } },
      { body: `{"sub":["${canary}"]}` },
      { body: `<p>${canary}</p>` },
      { body: canary, signature: null },
      'hang up',
    ];
    const statuses: number[] = [];
    for (const answer of said) {
      backend.says(() => answer);
      statuses.push((await gate.attempt('sam', canary)).status);
    }
    expect(statuses).toEqual([303, 400, 429, 503, 503, 503, 503, 503, 503]);
    expect((await gate.attempt('sam', canary, { origin: 'https://evil.test' })).status).toBe(403);
    const impatient = await start({ timeout: '100ms' });
    try {
      backend.says(() => 'hang');
      expect((await impatient.attempt('sam', canary)).status).toBe(503);
      for (const one of [gate, impatient]) {
        await vi.waitFor(() => expect(one.written()).toContain('login_unavailable'), { timeout: 30_000 });
        await vi.waitFor(() => expect(one.written()).toContain('/oauth/sign-in'), { timeout: 30_000 });
        expect(one.written()).not.toContain(canary);
      }
    } finally {
      await impatient.close();
    }
  });

  it('that does not respond makes the sign-in fail after the timeout', async () => {
    const impatient = await start({ timeout: '100ms' });
    try {
      backend.says(() => 'hang');
      expect((await impatient.attempt('sam', 'x')).status).toBe(503);
    } finally {
      await impatient.close();
    }
  });

  it('identifies members byte for byte', async () => {
    const subs: string[] = [];
    for (const sub of ['alice', 'Alice', 'ＡＬＩＣＥ', 'ali\u0063e\u0301']) {
      backend.says(() => ({ body: JSON.stringify({ sub }) }));
      const { tokens } = await gate.connect('sam', 'x');
      const who = await fetch(`${gate.world.origin}/api/oauth/userinfo`, {
        headers: { authorization: `Bearer ${tokens.access_token}` },
      });
      subs.push(((await who.json()) as { sub: string }).sub);
    }
    expect(subs).toEqual(['alice', 'Alice', 'ＡＬＩＣＥ', 'ali\u0063e\u0301']);
  });

  it('uses up attempts only when it has answered', async () => {
    const strict = await start({ attempts: { account: { requests: 3, per: 900 }, address: 'unlimited' } });
    const statuses = async (times: number) => {
      const got: number[] = [];
      for (let at = 0; at < times; at += 1) got.push((await strict.attempt('sam', 'wrong')).status);
      return got;
    };
    try {
      backend.says(() => ({ status: 500 }));
      expect(await statuses(5)).toEqual([503, 503, 503, 503, 503]);
      backend.says(() => ({ status: 401 }));
      expect(await statuses(5)).toEqual([400, 400, 400, 429, 429]);
    } finally {
      await strict.close();
    }
  });

  it('is not called for a missing or overlong name or password', async () => {
    const asked = backend.requests.length;
    for (const [username, password] of [
      ['', 'x'],
      ['sam', ''],
      ['x'.repeat(321), 'x'],
      ['sam', 'x'.repeat(1025)],
    ] as const) {
      expect((await gate.attempt(username, password)).status).toBe(400);
    }
    expect(backend.requests.length).toBe(asked);
    expect((await gate.attempt('x'.repeat(320), 'x'.repeat(1024))).status).toBe(400);
    expect(backend.requests.length).toBe(asked + 1);
  });

  it('is limited for correct passwords too, with the longest Retry-After', async () => {
    const attempts = { account: { requests: 2, per: 60 }, address: { requests: 2, per: '15m' } };
    const strict = await start({ attempts });
    try {
      backend.says(() => ({}));
      for (const status of [303, 303]) expect((await strict.attempt('sam', 'x')).status).toBe(status);
      const refused = await strict.attempt('sam', 'x');
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(60);
    } finally {
      await strict.close();
    }
  });

  it('clears the form’s cookie after the sign-in', async () => {
    backend.says(() => ({}));
    const page = await gate.attempt('sam', 'x');
    expect(page.headers.getSetCookie().join('\n')).toMatch(/coursegate_sign_in=;.*Max-Age=0/);
  });

  it('is called at most as often as the limit allows, even for concurrent attempts', async () => {
    const strict = await start({ attempts: { account: { requests: 3, per: 900 }, address: 'unlimited' } });
    try {
      const asked = backend.requests.length;
      let go = () => {};
      const gone = new Promise<void>((resolve) => {
        go = resolve;
      });
      backend.says(async () => {
        await gone;
        return { status: 401 };
      });
      const pages = await Promise.all(Array.from({ length: 8 }, () => strict.open()));
      const done = pages.map(({ browser, page }) => post(browser, page, { username: 'sam', password: 'x' }));
      // The refused attempts are answered while the admitted ones still wait for the backend.
      let refused = 0;
      for (const one of done) void one.then(() => ++refused === 5 && go());
      const statuses = (await Promise.all(done)).map(({ status }) => status).sort();
      expect(statuses).toEqual([400, 400, 400, 429, 429, 429, 429, 429]);
      expect(backend.requests.length).toBe(asked + 3);
    } finally {
      await strict.close();
    }
  });

  it('does not reveal whether a member exists, even if the backend’s timing does', async () => {
    const even = await start({ attempts: { address: 'unlimited', refusalTime: 0.4 } });
    try {
      const seen = async (username: string) => {
        const { browser, page } = await even.open(createBrowser());
        const began = performance.now();
        const answer = await post(browser, page, { username, password: 'x' });
        const taken = performance.now() - began;
        const volatile = /^(date|x-request-id|set-cookie|keep-alive)$/;
        return {
          taken,
          status: answer.status,
          text: answer.text
            .replaceAll(username, 'NAME')
            .replace(/(name="(?:csrf|return_to)" value="|action="\/oauth\/interaction\/)[^"]*/g, '$1'),
          fields: [...answer.headers].filter(([name]) => !volatile.test(name)),
          cookies: answer.headers.getSetCookie().map((line) => line.replace(/=[^;]*/, '=')),
        };
      };
      const [known, unknown] = [await seen('sam'), await seen('bob')];
      expect({ ...unknown, taken: 0 }).toEqual({ ...known, taken: 0 });
      expect(Math.min(known.taken, unknown.taken)).toBeGreaterThanOrEqual(399);
    } finally {
      await even.close();
    }
  });
});
