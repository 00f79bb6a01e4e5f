import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { runCommand } from '../support/command.ts';
import { type ProxyWorld, startProxyWorld } from '../support/proxy-world.ts';
import { freePort } from '../support/world.ts';

interface Site {
  readonly url: string;
  readonly seen: { method: string; url: string; headers: IncomingHttpHeaders }[];
  close(): Promise<void>;
}

/** A legacy site: data for requests with its cookie, public data, pages, and 404 for everything else. */
async function startSite(): Promise<Site> {
  const seen: Site['seen'] = [];
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    seen.push({ method, url, headers });
    request.resume();
    const json = (status: number) => {
      response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
      response.end(JSON.stringify({ path: url, cookie: headers.cookie ?? null }));
    };
    const path = url.split('?')[0] ?? '';
    if (path.startsWith('/gone')) return json(404);
    if (path.startsWith('/pages')) {
      response.writeHead(200, { 'content-type': 'text/html' });
      return response.end('<!doctype html>');
    }
    if (path.startsWith('/api/orders') && headers.cookie === undefined && headers.authorization === undefined)
      return json(401);
    return json(method === 'POST' ? 201 : 200);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const COOKIE = { cookie: 'school=signed-in' };
const OBSERVE = { enforcement: { mode: 'observe' } };
/** `/member/**` goes to the site and requires a token; `POST /ledger` goes to another upstream. */
const ROUTES = [
  { match: 'GET /member/**', upstream: 'back', scopes: ['courses:read'] },
  { match: 'GET /write/**', upstream: 'back', scopes: ['courses:write'] },
  { match: 'GET /reading/**', upstream: 'back', anonymous: 'serve' },
  { match: 'GET /unused/**', upstream: 'back', scopes: ['courses:read'] },
  { match: 'GET /ledger/**', upstream: 'school', scopes: ['courses:read'] },
];

let site: Site;
let world: ProxyWorld;

const status = async (path: string, init: RequestInit = {}) => {
  const answer = await fetch(world.origin + path, { redirect: 'manual', ...init });
  await answer.arrayBuffer();
  return answer.status;
};

/** Sends fields that fetch does not send. Returns the status. */
const raw = async (method: string, path: string, headers: readonly (readonly [string, string])[]) => {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const answer = await world.raw(
    `${method} ${path} HTTP/1.1\r\nhost: ${world.host}\r\nconnection: close\r\n${lines}\r\n`,
  );
  return Number(answer.split(' ')[1]);
};

interface Observed {
  readonly dropped: number;
  readonly observed: readonly {
    method: string;
    path: string;
    route?: string;
    requests: number;
    signedIn: number;
    callers: Record<string, number>;
    statuses: Record<string, number>;
    wouldHave: Record<string, number>;
  }[];
}
const observed = async (): Promise<Observed> =>
  (await (await fetch(`${world.admin}/observed.json`)).json()) as Observed;
const proposal = async () => {
  const text = await (await fetch(`${world.admin}/observed`)).text();
  return { text, ...(parse(text) as { routes: { match: string; scopes: string[]; anonymous?: string }[] }) };
};

async function start(config: Record<string, unknown>, clock = Date.now): Promise<void> {
  site = await startSite();
  world = await startProxyWorld({ upstream: site.url, config, clock });
}
async function stop(): Promise<void> {
  await world?.close();
  await site?.close();
}

describe('enforcement by default', () => {
  beforeAll(() => start({ routes: ROUTES }));
  afterAll(stop);

  it('refuses what observe mode forwards', async () => {
    expect(await status('/member/1', { headers: COOKIE })).toBe(401);
    expect(await status('/member/1', { method: 'DELETE', headers: COOKIE })).toBe(405);
    expect(await status('/MEMBER/1', { headers: COOKIE })).toBe(404);
    expect(await status('/member/1', { headers: { authorization: 'Bearer theirs' } })).toBe(401);
    expect(site.seen.filter(({ url }) => /member/i.test(url))).toEqual([]);
  });

  it('offers no observations', async () => {
    expect((await fetch(`${world.admin}/observed`)).status).toBe(404);
    expect((await fetch(`${world.admin}/observed.json`)).status).toBe(404);
    expect((await (await fetch(`${world.admin}/readyz`)).text()).trim()).toBe('ok');
  });
});

describe('observe mode', () => {
  beforeAll(() => start({ routes: ROUTES, ...OBSERVE }));
  afterAll(stop);

  it('warns at startup and in the readiness response', async () => {
    expect(world.log()).toMatch(/"level":"?(warn|40)"?.*OBSERVE MODE/);
    const ready = await fetch(`${world.admin}/readyz`);
    expect(ready.status).toBe(200);
    expect(await ready.text()).toMatch(/observe mode.*not enforced/);
  });

  it('forwards requests that would be refused to the site, unchanged', async () => {
    for (const [method, path] of [
      ['GET', '/member/1?secret=x'],
      ['DELETE', '/member/2'],
      ['GET', '/MEMBER/3'],
      ['GET', '/reading/4'],
    ] as const) {
      expect(await status(path, { method, headers: COOKIE })).toBe(200);
      expect(site.seen.at(-1)).toMatchObject({ method, url: path, headers: COOKIE });
    }
  });

  it('still removes identity headers and the gate’s own cookies', async () => {
    const headers = {
      cookie: 'school=signed-in; coursegate_session=x',
      'x-member-id': '7',
      'x-coursegate-assertion': 'y',
    };
    expect(await status('/member/1', { headers })).toBe(200);
    const last = site.seen.at(-1)?.headers ?? {};
    expect(last.cookie).toBe('school=signed-in');
    expect(Object.keys(last).filter((name) => /^x-(member|coursegate)/.test(name))).toEqual([]);
  });

  it('serves an app with a valid token as usual, with its identity and without cookies', async () => {
    const headers = { authorization: `Bearer ${world.token}`, ...COOKIE };
    expect(await status('/member/5', { headers })).toBe(200);
    const last = site.seen.at(-1)?.headers ?? {};
    expect(last['x-member-id']).toBe('m-1');
    expect(last.cookie).toBeUndefined();
    expect(last.authorization).toBeUndefined();
  });

  it('forwards tokens of other issuers, and refuses our own valid token where it does not apply', async () => {
    expect(await status('/member/6', { headers: { authorization: 'Bearer of-the-site' } })).toBe(200);
    expect(site.seen.at(-1)?.headers.authorization).toBe('Bearer of-the-site');
    const before = site.seen.length;
    expect(await status('/write/1', { headers: { authorization: `Bearer ${world.token}` } })).toBe(403);
    expect(await status('/member/6', { headers: { authorization: `DPoP ${world.token}` } })).toBe(401);
    expect(site.seen).toHaveLength(before);
  });

  it('opens neither the gate’s own endpoints nor an upstream other than the site’s', async () => {
    expect(await status('/api/oauth/userinfo', { headers: COOKIE })).toBe(401);
    expect(await status('/api/oauth/token')).toBe(405);
    expect(await status('/OAUTH/authorize')).toBe(404);
    expect(await status('/ledger/1', { headers: COOKIE })).toBe(401);
    expect(await status('/ledger/1', { method: 'DELETE', headers: COOKIE })).toBe(405);
  });

  it('leaves CORS responses to the site, except for a preflight that names Authorization', async () => {
    const preflight = (fields: string) =>
      fetch(`${world.origin}/member/1`, {
        method: 'OPTIONS',
        headers: {
          origin: 'https://app.example',
          'access-control-request-method': 'GET',
          'access-control-request-headers': fields,
        },
      });
    const before = site.seen.length;
    expect((await preflight('authorization')).headers.get('access-control-allow-origin')).toBe('*');
    expect(site.seen).toHaveLength(before);
    await (await preflight('content-type')).arrayBuffer();
    expect(site.seen).toHaveLength(before + 1);
  });

  it('counts requests by route, would-be decision, sign-in and status, and stores no query', async () => {
    const all = await observed();
    const member = all.observed.find(({ path, method }) => path === '/member/**' && method === 'GET');
    expect(member).toMatchObject({ route: 'GET /member/**', statuses: { 200: 4 }, signedIn: 3, requests: 4 });
    expect(member?.wouldHave).toEqual({ no_token: 2, none: 1, unknown_token: 1 });
    const reading = all.observed.find(({ path }) => path === '/reading/**');
    expect(reading?.wouldHave).toEqual({ anonymous: 1 });
    const text = JSON.stringify(all);
    expect(text).not.toMatch(/secret|signed-in|of-the-site/);
    expect(all.observed.find(({ path, method }) => path === '/member/*' && method === 'DELETE')).toMatchObject({
      wouldHave: { method_not_allowed: 1 },
    });
    expect(all.observed.find(({ path }) => path === '/MEMBER/*')).toMatchObject({ wouldHave: { spelling: 1 } });
  });

  it.each([
    ['a session cookie', COOKIE, 'session'],
    ['a token of the site', { authorization: 'Bearer of-the-site', ...COOKIE }, 'credentials'],
    ['a key in a field', { 'x-api-key': 'k' }, 'credentials'],
    ['a key in the query', {}, 'credentials', '?consumer_key=ck_1'],
    ['a script of the page', { 'x-requested-with': 'XMLHttpRequest' }, 'page'],
    ['a nonce of WordPress', { 'x-wp-nonce': 'n' }, 'page'],
    ['a token against CSRF', { 'x-csrftoken': 't' }, 'page'],
    ['the browser’s own word', { 'sec-fetch-site': 'same-origin' }, 'page'],
    ['a referring page', { referer: 'ORIGIN/courses' }, 'page'],
    ['an origin', { origin: 'ORIGIN' }, 'page'],
    ['nothing', {}, 'other'],
    ['another site’s page', { 'sec-fetch-site': 'cross-site', origin: 'https://other.example' }, 'other'],
    ['an address typed by a person', { 'sec-fetch-site': 'none' }, 'other'],
  ])('recognises who sends a request by %s', async (_how, fields, caller, query = '') => {
    const path = `/callers/${caller}-${Object.keys(fields).join('-')}${query === '' ? '' : '-query'}`;
    const headers = Object.entries(fields).map(([name, value]): [string, string] => [
      name,
      value.replace('ORIGIN', world.origin),
    ]);
    expect(await raw('GET', path + query, headers)).toBe(200);
    const all = await observed();
    expect(all.observed.find((one) => one.path === path)?.callers).toEqual({ [caller]: 1 });
  });

  it('recognises a form by its type, and nobody in what the site does not know', async () => {
    const type = { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' };
    expect(await status('/callers/form', { method: 'POST', headers: { ...type, ...COOKIE }, body: 'a=b' })).toBe(201);
    expect(await status('/gone/form', { headers: COOKIE })).toBe(404);
    const all = await observed();
    expect(all.observed.find(({ path }) => path === '/callers/form')?.callers).toEqual({ form: 1 });
    expect(all.observed.find(({ path }) => path.startsWith('/gone'))).toBeUndefined();
  });

  it('refuses a page of another site', async () => {
    const answer = await fetch(`${world.admin}/observed`, { headers: { origin: 'https://evil.example' } });
    expect(answer.status).toBe(403);
  });
});

describe('the proposed routes', () => {
  let routes: unknown;

  it('cover the observed traffic: public if used without a sign-in, otherwise with a scope at an address for apps', async () => {
    await start({ routes: [ROUTES[0], ROUTES[3]], ...OBSERVE });
    try {
      await status('/member/1', { headers: COOKIE });
      for (const id of [1, 22, 333]) await status(`/api/courses/${id}`, { headers: COOKIE });
      await status('/api/courses', { method: 'POST', headers: COOKIE });
      await status('/api/orders/5f3a9c1e-1111-4222-8333-123456789abc', { headers: COOKIE });
      await status('/api/orders/7');
      await status('/catalogue/topics');
      await status('/pages/1', { headers: COOKIE });
      await status('/gone/1', { headers: COOKIE });
      // Its pattern would include /api/oauth/** and /account/graphql, which no route may match.
      for (const path of ['/api/77/x', '/account/88', '/99']) await status(path, { headers: COOKIE });
      const proposed = await proposal();
      routes = proposed.routes;
      const forApps = (method: string, path: string, scope: string) => ({
        match: `${method} /api/site${path}`,
        rewrite: path,
        upstream: 'back',
        scopes: [scope],
        anonymous: 'refuse',
      });
      const { anonymous: _, ...member } = forApps('GET', '/member/**', 'courses:read');
      expect(proposed.routes).toEqual([
        forApps('POST', '/api/courses', 'courses:write'),
        forApps('GET', '/api/courses/*', 'courses:read'),
        forApps('GET', '/api/orders/*', 'orders:read'),
        member,
        { match: 'GET /catalogue/topics', upstream: 'back', scopes: [], anonymous: 'serve' },
      ]);
      expect(proposed.text).toMatch(
        /GET \/api\/site\/api\/courses\/\*.*# 3 requests, 3 signed in; 200 x3; called by the site's own pages or tools/,
      );
      expect(proposed.text).toMatch(
        /# - GET \/member\/\*\*: called by the site's own pages or tools, whom this route would refuse; apps get \/api\/site\/member\/\*\*/,
      );
      expect(proposed.text).toMatch(/# - GET \/api\/\*\/x: takes in addresses of coursegate itself/);
      expect(proposed.text).toMatch(/# - GET \/unused\/\*\*: a route that nothing was got by/);
    } finally {
      await stop();
    }
  });

  it('allow exactly that traffic when enforced, and nothing else', async () => {
    site = await startSite();
    world = await startProxyWorld({ upstream: site.url, site: false, config: { routes } });
    try {
      const headers = { authorization: `Bearer ${world.token}` };
      expect(await status('/api/site/api/courses/1', { headers })).toBe(200);
      expect(site.seen.at(-1)).toMatchObject({ url: '/api/courses/1', headers: { 'x-member-id': 'm-1' } });
      expect(await status('/api/site/api/courses/1', { headers: COOKIE })).toBe(401);
      expect(await status('/api/site/api/courses', { method: 'POST', headers })).toBe(403);
      expect(await status('/api/site/api/orders/8', { headers })).toBe(403);
      expect(await status('/catalogue/topics')).toBe(200);
      const before = site.seen.length;
      for (const path of ['/api/courses/1', '/api/site/api/courses/1/x', '/unused/1', '/gone/1', '/catalogue', '/'])
        expect([path, await status(path, { headers })]).toEqual([path, 404]);
      expect(await status('/api/site/api/courses/1', { method: 'DELETE', headers })).toBe(405);
      expect(await status('/catalogue/topics', { method: 'POST', headers })).toBe(405);
      expect(site.seen).toHaveLength(before);
    } finally {
      await stop();
    }
  });

  it('leave an address for the site if it is called by another method, without signing in', async () => {
    const ledger = ROUTES[4];
    await start({ routes: [ledger], ...OBSERVE });
    try {
      await status('/prices/today');
      await status('/prices/today', { method: 'POST' });
      const proposed = await proposal();
      expect(proposed.routes.map(({ match }) => match)).toEqual(['GET /api/site/prices/today', 'GET /ledger/**']);
      expect(proposed.text).toMatch(
        /# - POST \/prices\/today: sent without signing in, as other services report events; left out/,
      );
    } finally {
      await stop();
    }
  });
});

describe('a gate in observe mode that no request reaches', () => {
  let ahead = 0;
  beforeAll(async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    // An app connects meanwhile, which uses the gate's own endpoints only.
    await start({ routes: ROUTES, ...OBSERVE }, () => Date.now() + ahead);
  });
  afterAll(async () => {
    vi.useRealTimers();
    await stop();
  });
  const lines = () => world.log().match(/^.*No request for the site has reached this gate.*$/gm) ?? [];
  const later = async (seconds: number) => {
    ahead += seconds * 1000;
    await vi.advanceTimersByTimeAsync(30_000);
  };

  it('logs that once after ten minutes, with what to look at, and its report says so until one arrives', async () => {
    await later(500);
    expect(lines()).toEqual([]);
    expect((await proposal()).text).not.toContain('No request');
    await fetch(`${world.origin}/openapi.json`).then((answer) => answer.arrayBuffer());
    await fetch(`${world.admin}/readyz`).then((answer) => answer.arrayBuffer());
    await later(101);
    expect(lines()).toHaveLength(1);
    expect(JSON.parse(lines()[0] ?? '')).toMatchObject({ level: 40, msg: expect.stringMatching(/snippets.*location/) });
    expect((await proposal()).text).toMatch(/^# No request for the site has reached this gate for ten minutes/);
    expect(await (await fetch(`${world.admin}/observed.json`)).json()).toHaveProperty('quietSince');
    await later(1200);
    expect(lines()).toHaveLength(1);
    await status('/pages/1');
    expect((await proposal()).text).not.toContain('No request');
    expect(await (await fetch(`${world.admin}/observed.json`)).json()).not.toHaveProperty('quietSince');
  });
});

describe('coursegate observed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-observed-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const config = (adminPort: number, more: object) => ({
    version: 1,
    profile: 'B',
    origin: 'https://school.example',
    listen: { admin: { port: adminPort } },
    store: { kind: 'memory' },
    login: { kind: 'session', upstream: 'back', whoami: { path: '/me' }, loginUrl: '/login', cookies: ['s'] },
    upstreams: { back: { url: 'http://127.0.0.1:1' } },
    site: { upstream: 'back' },
    ...more,
  });
  const write = (value: unknown) => {
    const file = join(folder, 'coursegate.yaml');
    writeFileSync(file, JSON.stringify(value));
    return file;
  };

  it('prints the proposal to standard output, as YAML or JSON', async () => {
    await start({ routes: [], ...OBSERVE });
    try {
      await status('/api/courses/1', { headers: COOKIE });
      const file = write(config(Number(new URL(world.admin).port), OBSERVE));
      const yaml = runCommand(['observed', '--config', file]);
      expect(await yaml.exited).toBe(0);
      expect(parse(yaml.stdout())).toMatchObject({ routes: [{ match: 'GET /api/site/api/courses/*' }] });
      expect(yaml.stderr()).toBe('');
      const json = runCommand(['observed', '--config', file, '--json']);
      expect(await json.exited).toBe(0);
      expect(JSON.parse(json.stdout())).toMatchObject({ observed: [{ path: '/api/courses/*', requests: 1 }] });
    } finally {
      await stop();
    }
  });

  it('has `check` name the routes that would refuse what the site’s pages call', async () => {
    await start({ routes: [], ...OBSERVE });
    try {
      await status('/member/1', { headers: COOKIE });
      await status('/public/1');
      const route = (match: string) => ({ match, upstream: 'back', scopes: ['courses:read'] });
      const routes = ['GET /public/**', '* /member/**', 'GET /api/site/member/**'].map(route);
      const file = write(config(Number(new URL(world.admin).port), { ...OBSERVE, routes }));
      const check = runCommand(['check', file]);
      expect(await check.exited).toBe(0);
      expect(check.stderr().match(/routes\[\d\]\.match: .*/g)).toEqual([
        'routes[1].match: would refuse the site\'s own pages or tools, which the running gate has seen call it. Give apps an address of their own: match: "* /api/site/member/**", rewrite: "/member/**"',
      ]);
      const enforced = runCommand(['check', write(config(Number(new URL(world.admin).port), { routes }))]);
      expect(await enforced.exited).toBe(0);
      expect(enforced.stderr()).not.toMatch(/routes/);
    } finally {
      await stop();
    }
  });

  it('reports that no gate is responding', async () => {
    const none = runCommand(['observed', '--config', write(config(await freePort(), OBSERVE))]);
    expect(await none.exited).toBe(69);
    expect(none.stdout()).toBe('');
    expect(none.stderr()).toMatch(/No gate answers at http:\/\/127\.0\.0\.1:/);
  });

  it.each([
    ['without a site', { site: undefined, login: undefined }, /enforcement\.mode.*`observe` needs `site`/s],
    ['with its warnings suppressed', { log: { level: 'error' } }, /`observe` needs its warnings logged/],
    ['if set under routes', { routes: { mode: 'observe' } }, /enforcement: \{ mode: observe \}/],
  ])('is refused %s', async (_how, more, said) => {
    const check = runCommand(['check', write(config(9090, { ...OBSERVE, ...more }))]);
    expect(await check.exited).toBe(78);
    expect(check.stderr()).toMatch(said);
  });
});
