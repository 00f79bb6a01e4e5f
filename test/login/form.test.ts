import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type FormBackend, startFormBackend } from './support/form-backend.ts';
import { post, type SignInWorld, startSignIn } from './support/sign-in.ts';

const OPEN = { attempts: { address: 'unlimited' } };
const LOGIN = {
  kind: 'form',
  upstream: 'old',
  page: '/login',
  fields: { username: 'user', password: 'pass' },
  extra: { go: 'Go' },
  success: { status: [302], location: '^/home', cookie: 'PHPSESS*' },
  lockedOut: { body: 'Too many attempts' },
  whoami: { path: '/me', name: '/name' },
  logout: '/logout',
  ...OPEN,
};
const PASSWORD = `sam's & "own" pässword`;

let backend: FormBackend;
const gates = new Map<string, Promise<SignInWorld>>();

/** Reuses one gate per configuration. */
const gateOf = (
  login: Readonly<Record<string, unknown>> = LOGIN,
  claims: Readonly<Record<string, unknown>> = {},
): Promise<SignInWorld> => {
  const key = JSON.stringify([login, claims]);
  const gate =
    gates.get(key) ??
    startSignIn(login, {
      overrides: {
        claims,
        listen: { trustedProxies: ['loopback'] },
        upstreams: { old: { url: backend.url, breaker: { failures: 0 } } },
      },
    });
  gates.set(key, gate);
  return gate;
};
const attempt = async (username: string, password: string, login?: Readonly<Record<string, unknown>>) =>
  (await gateOf(login)).attempt(username, password);

beforeAll(async () => {
  backend = await startFormBackend();
  await gateOf();
});
afterAll(async () => {
  for (const gate of gates.values()) await (await gate).close();
  await backend.close();
});
beforeEach(() => {
  backend.seen.length = 0;
});
afterEach(() => backend.instead.clear());

const userinfo = async (gate: SignInWorld, username: string, password: string) => {
  const { tokens } = await gate.connect(username, password);
  const answer = await fetch(`${gate.world.origin}/api/oauth/userinfo`, {
    headers: { authorization: `Bearer ${tokens.access_token}` },
  });
  return answer.json();
};

describe('a sign-in with the site’s form', () => {
  it('sends the hidden fields, cookies, Origin and Referer of the page, and signs out afterwards', async () => {
    expect(await userinfo(await gateOf(), 'sam', PASSWORD)).toMatchObject({ sub: 'sam-7', name: 'sam' });
    expect(backend.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /login',
      'GET /login.php',
      'POST /login.php?go=1&lang=en',
      'GET /me',
      'GET /logout',
    ]);
    const sent = new URLSearchParams(backend.seen[2]?.body);
    expect([...sent.keys()]).toEqual(['token', 'items[]', 'items[]', 'go', 'user', 'pass']);
    expect(sent.get('go')).toBe('Go');
    expect(backend.seen[2]?.headers.cookie).toMatch(/^PHPSESSID=\w{16}; seen=1$/);
    expect(backend.sessions()).toBe(0);
  });

  it('tells the site the member’s address in every request, as forwarded requests do', async () => {
    const gate = await gateOf();
    await gate.attempt('sam', PASSWORD, { 'x-forwarded-for': '203.0.113.7', 'x-request-id': 'theirs-1' });
    expect(backend.seen).toHaveLength(5);
    const { host } = new URL(gate.world.origin);
    for (const { headers } of backend.seen) {
      expect(headers).toMatchObject({
        'x-forwarded-for': '203.0.113.7, 127.0.0.1',
        'x-real-ip': '203.0.113.7',
        forwarded: `for=203.0.113.7;host="${host}";proto=http`,
        'x-forwarded-host': host,
        'x-forwarded-proto': 'http',
        'x-request-id': 'theirs-1',
      });
    }
  });

  it('reads the configured claims from whoami', async () => {
    const gate = await gateOf(LOGIN, { nickname: { scope: 'profile', from: '/name' } });
    expect(await userinfo(gate, 'sam', PASSWORD)).toMatchObject({ sub: 'sam-7', nickname: 'sam' });
  });

  it.each([
    ['sam', 'wrong'],
    ['nobody', 'wrong'],
    ['nobody', PASSWORD],
  ])('fails with wrong credentials when the form is shown again: %s, %s', async (username, password) => {
    const page = await attempt(username, password);
    expect(page.status).toBe(400);
    expect(page.text).toContain('id="problem"');
    expect(page.headers.getSetCookie().join()).not.toContain('coursegate_member');
  });

  it('is slowed down when the backend has locked the account', async () => {
    const page = await attempt('locked', 'x');
    expect(page.status).toBe(429);
    expect(page.headers.get('retry-after')).toBe('300');
  });

  it.each([
    ['by 429, for as long as Retry-After says', {}, 429, { 'retry-after': '7' }, '7'],
    ['by 429, for five minutes without Retry-After', {}, 429, {}, '300'],
    ['by its redirect', { body: '^/locked' }, 302, { location: '/locked?a=1' }, '300'],
  ] as const)('is slowed down when the backend says so %s', async (_, lockedOut, status, headers, wait) => {
    backend.instead.set('POST /login.php', (response) => response.writeHead(status, headers).end());
    const page = await attempt('sam', PASSWORD, { ...LOGIN, lockedOut });
    expect(page.status).toBe(429);
    expect(page.headers.get('retry-after')).toBe(wait);
  });

  it('takes at least the configured time when it is refused', async () => {
    const login = { ...LOGIN, attempts: { address: 'unlimited', refusalTime: 0.6 } };
    const { browser, page } = await (await gateOf(login)).open();
    const began = performance.now();
    expect((await post(browser, page, { username: 'sam', password: 'wrong' })).status).toBe(400);
    expect(performance.now() - began).toBeGreaterThanOrEqual(599);
  });

  it('succeeds even if signing out fails', async () => {
    backend.instead.set('GET /logout', (response) => response.destroy());
    expect((await attempt('sam', PASSWORD)).status).toBe(303);
  });

  it('ends the browser’s earlier sign-in', async () => {
    const gate = await gateOf();
    const { browser, page } = await gate.open();
    const [cookie = ''] = (await attempt('sam', PASSWORD)).headers.getSetCookie();
    const former = cookie.split(';')[0] ?? '';
    const seesApps = async () => {
      const answer = await fetch(`${gate.world.origin}/oauth/apps`, {
        headers: { cookie: former },
        redirect: 'manual',
      });
      return (await answer.text()).includes('id="apps"');
    };
    expect(await seesApps()).toBe(true);
    const [name = '', value = ''] = former.split('=');
    browser.cookies.set(name, { value, path: '/' });
    expect((await post(browser, page, { username: 'sam', password: PASSWORD })).status).toBe(303);
    expect(await seesApps()).toBe(false);
  });

  it('has a separate cookie jar', async () => {
    await attempt('sam', PASSWORD);
    backend.seen.length = 0;
    await attempt('sam', 'wrong');
    expect(backend.seen[0]?.headers.cookie).toBeUndefined();
  });

  type Told = (response: ServerResponse) => void;
  const html = (body: string, status = 200, headers: Record<string, string> = {}): Told => {
    return (response) => response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(body);
  };
  const form = (action: string) =>
    html(`<form method="post" action="${action}"><input type="password" name="pass"></form>`);
  const ill: readonly (readonly [string, string, Told])[] = [
    ['is down for its page', 'GET /login', html('maintenance', 503)],
    ['has no page', 'GET /login', html('nothing', 404)],
    ['has a page without a form', 'GET /login', html('<h1>We will be back</h1>')],
    ['has a form of another kind', 'GET /login', html('<form><input name="q"></form>')],
    ['leads its page to another site', 'GET /login', html('', 302, { location: 'https://evil.test/login' })],
    ['leads its page in circles', 'GET /login', html('', 302, { location: '/login' })],
    ['has its form lead to another site', 'GET /login', form('https://evil.test/login')],
    ['has its form lead nowhere', 'GET /login', form('https://[')],
    ['hangs up', 'GET /login', (response) => response.destroy()],
    ['refuses the form', 'POST /login.php', html('CSRF verification failed', 403)],
    ['has lost the session', 'POST /login.php', html('Page Expired', 419)],
    ['fails', 'POST /login.php', html('Fatal error', 500)],
    ['answers a page without the form', 'POST /login.php', html('<h1>We will be back</h1>')],
    ['says yes, and whoami says nobody', 'GET /me', html('', 401)],
    ['says yes, and whoami fails', 'GET /me', html('', 500)],
    ['says yes, and whoami leads away', 'GET /me', html('', 302, { location: 'https://evil.test/' })],
    ['names nobody', 'GET /me', html('{"id":""}')],
    ['sets more cookies than one can carry', 'GET /login', html('', 200, { 'set-cookie': `a=${'x'.repeat(9000)}` })],
  ];
  it.each(ill)('at a backend that %s fails with 503', async (_, path, told) => {
    backend.instead.set(path, told);
    const page = await attempt('sam', PASSWORD);
    expect(page.status).toBe(503);
    expect(page.headers.get('retry-after')).toBeTruthy();
    expect(page.headers.getSetCookie().join()).not.toContain('coursegate_member');
    expect(backend.seen.length).toBeLessThan(8);
  });

  it.each([
    ['a form', 'form'],
    ['JSON', 'json'],
    ['a URL', 'query'],
  ])('leaves typed credentials in no log or store file, sent as %s', async (_, format) => {
    const canary = 'canary-93ac1e';
    const login = {
      kind: 'form',
      upstream: 'old',
      action: '/enter',
      format,
      success: { pointer: '/token' },
      whoami: { path: '/who?token={/token}' },
      ...OPEN,
    };
    const path = `${format === 'query' ? 'GET' : 'POST'} /enter`;
    const answers: readonly (readonly [number, Told])[] = [
      [303, html('{"token":"t"}')],
      [400, html(`{"error":"not ${canary}"}`)],
      [429, html(canary, 429)],
      [503, html(`no such column: ${canary}`, 500)],
      [400, html('', 302, { location: `https://evil.test/?password=${canary}` })],
      [503, html(`<p>${canary}</p>`)],
      [503, html(`{"token":"${canary} "}`)],
      [503, html(`{"token":"${canary}-says-the-site"}`)],
      [503, (response) => response.destroy()],
    ];
    backend.instead.set('GET /who', (response, { url }) =>
      url.includes(canary) ? response.destroy() : html('{"id":"sam-7"}')(response),
    );
    const gate = await gateOf(login);
    for (const [status, told] of answers) {
      backend.instead.set(path, told);
      expect((await gate.attempt('sam', canary)).status).toBe(status);
    }
    expect(backend.seen.some(({ url, body }) => (url + body).includes(canary))).toBe(true);
    await vi.waitFor(() => expect(gate.written()).toContain('login_unavailable'), { timeout: 30_000 });
    await vi.waitFor(() => expect(gate.written()).toContain('/oauth/sign-in'), { timeout: 30_000 });
    expect(gate.written()).not.toContain(canary);
  });

  it('does not succeed because of a cookie in a refusal, or an empty cookie', async () => {
    backend.instead.set('POST /login.php', html('no', 401, { 'set-cookie': 'PHPSESSID=x' }));
    expect((await attempt('sam', PASSWORD, { ...LOGIN, success: { cookie: 'PHPSESSID' } })).status).toBe(400);
    backend.instead.set('POST /login.php', html('', 302, { location: '/home', 'set-cookie': 'PHPSESSID=' }));
    expect((await attempt('sam', PASSWORD, { ...LOGIN, success: { cookie: 'PHPSESSID' } })).status).toBe(400);
  });

  it('drops expired cookies', async () => {
    const over = 'a=1; Expires=Fri, 01 Jan 2100 00:00:00 GMT; Max-Age=0';
    backend.instead.set('GET /login', html('', 302, { location: '/login.php', 'set-cookie': over }));
    await attempt('sam', 'wrong');
    expect(backend.seen[1]?.url).toBe('/login.php');
    expect(backend.seen[1]?.headers.cookie).toBeUndefined();
  });

  it.each(['/other', '/application/login'])('under a base path is not sent to %s', async (action) => {
    backend.instead.set('GET /app/login', form(action));
    const upstreams = { old: { url: `${backend.url}/app`, breaker: { failures: 0 } } };
    const gate = await startSignIn(LOGIN, { overrides: { upstreams } });
    try {
      expect((await gate.attempt('sam', PASSWORD)).status).toBe(503);
      expect(backend.seen.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /app/login']);
    } finally {
      await gate.close();
    }
  });

  it('is not sent to another site, even with the right path', async () => {
    backend.instead.set('GET /login', form('https://evil.test/login.php'));
    expect((await attempt('sam', PASSWORD)).status).toBe(503);
    backend.instead.set('GET /login', html('', 302, { location: 'https://evil.test/login.php' }));
    expect((await attempt('sam', PASSWORD)).status).toBe(503);
    expect(backend.seen.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /login', 'GET /login']);
  });

  it('fails when the backend times out', async () => {
    backend.instead.set('GET /login', () => {});
    expect((await attempt('sam', PASSWORD, { ...LOGIN, timeout: '200ms' })).status).toBe(503);
  });

  it('neither sends the gate’s cookies to the backend nor accepts any from it', async () => {
    backend.instead.set('GET /login', html('', 302, { location: '/login.php', 'set-cookie': 'coursegate_member=x' }));
    await attempt('sam', 'wrong');
    expect(backend.seen.map(({ headers }) => headers.cookie).join()).not.toContain('coursegate');
  });

  it.each([
    ['by its status', { status: [302] }],
    ['by its redirect', { location: '/home' }],
    ['by a redirect that is not to the login page', { notLocation: 'login' }],
    ['by a cookie', { cookie: 'PHPSESSID' }],
  ])('can be recognised as successful %s alone', async (_, success) => {
    const login = { ...LOGIN, success };
    expect((await attempt('sam', PASSWORD, login)).status).toBe(303);
    expect((await attempt('sam', 'wrong', login)).status).toBe(400);
  });

  it.each([
    ['status', { status: [303], location: '/home', cookie: 'PHPSESSID' }],
    ['location', { status: [302], location: '/courses', cookie: 'PHPSESSID' }],
    ['notLocation', { status: [302], notLocation: 'home', cookie: 'PHPSESSID' }],
    ['cookie', { status: [302], location: '/home', cookie: 'remember_*' }],
    ['pointer', { status: [302], location: '/home', pointer: '/token' }],
  ])('succeeds only if every rule matches, and not without %s', async (_, success) => {
    expect((await attempt('sam', PASSWORD, { ...LOGIN, success })).status).toBe(400);
  });

  it('relies on whoami when there is no rule', async () => {
    const { success: _, ...login } = LOGIN;
    expect((await attempt('sam', PASSWORD, login)).status).toBe(303);
    expect((await attempt('sam', 'wrong', login)).status).toBe(400);
    backend.instead.set('GET /me', html('', 500));
    expect((await attempt('sam', 'wrong', login)).status).toBe(503);
  });

  it('fails with wrong credentials only if the page says so, where failure.body is set', async () => {
    const login = { ...LOGIN, failure: { body: 'Wrong!' } };
    expect((await attempt('sam', 'wrong', login)).status).toBe(400);
    backend.instead.set('POST /login.php', html('<p>Another page</p><input type="password">'));
    expect((await attempt('sam', 'wrong', login)).status).toBe(503);
  });
});

describe('a sign-in at a token endpoint that always returns 200', () => {
  const TOKEN = {
    kind: 'form',
    upstream: 'old',
    action: '/token',
    extra: { service: 'app' },
    success: { pointer: '/token' },
    whoami: { path: '/info?wstoken={/token}', subject: '/userid', name: '/fullname' },
    ...OPEN,
  };
  const bearer = {
    ...TOKEN,
    whoami: { path: '/info', subject: '/userid' },
    whoamiHeaders: { Authorization: 'Bearer {/token}' },
  };

  it.each([
    ['in a form', TOKEN],
    ['in the URL', { ...TOKEN, format: 'query' }],
    ['in a form, with the token in a header', bearer],
  ])('succeeds with a token, sent %s', async (_, login) => {
    expect(await userinfo(await gateOf(login), 'mo', 'right')).toMatchObject({ sub: '31' });
    const page = await attempt('mo', 'wrong', login);
    expect(page.status).toBe(400);
  });

  it('can be sent as JSON', async () => {
    backend.instead.set('POST /token', (response) => response.end('{"token":"tok+en/="}'));
    expect((await attempt('mo', 'right "one"', { ...TOKEN, format: 'json' })).status).toBe(303);
    expect(backend.seen[0]?.headers['content-type']).toBe('application/json');
    expect(JSON.parse(backend.seen[0]?.body ?? '')).toEqual({
      service: 'app',
      username: 'mo',
      password: 'right "one"',
    });
  });

  it.each(['null', 'false', '""'])('is refused when the token is %s', async (token) => {
    backend.instead.set('POST /token', (response) => response.end(`{"token":${token}}`));
    expect((await attempt('mo', 'right', TOKEN)).status).toBe(400);
  });

  it('fails when the token cannot be forwarded', async () => {
    for (const token of ['"a b"', '"a\\r\\nx: y"', '{}', '[]', `"${'x'.repeat(5000)}"`]) {
      backend.instead.set('POST /token', (response) => response.end(`{"token":${token}}`));
      for (const login of [TOKEN, bearer]) expect((await attempt('mo', 'right', login)).status).toBe(503);
    }
    backend.instead.set('POST /token', (response) => response.end('{"tokens":["of-another","of-mo"]}'));
    const first = { ...TOKEN, success: { status: [200] }, whoami: { path: '/info?wstoken={/tokens/0}' } };
    expect((await attempt('mo', 'right', first)).status).toBe(503);
    expect(backend.seen.filter(({ url }) => url.startsWith('/info'))).toEqual([]);
  });
});
