import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, authorizationRequest, bearer, registerApp } from '../support/app.ts';
import { type Browser, createBrowser } from '../support/browser.ts';
import { connect } from '../support/connection.ts';
import { reachConsent, SAM, signIn } from '../support/member.ts';
import { rawRequest } from '../support/raw.ts';
import { startWorld, type World } from '../support/world.ts';

describe('a step of an authorization', () => {
  let world: World;
  let app: App;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A' });
    app = await registerApp(world.origin);
  });
  afterAll(() => world.close());

  const send = (browser: Browser, method: string, url: string) =>
    fetch(url, {
      method,
      redirect: 'manual',
      headers: { cookie: [...browser.cookies].map(([name, { value }]) => `${name}=${value}`).join('; ') },
    });
  const expectRefused = (answer: Response, allow: string) => {
    expect({ status: answer.status, allow: answer.headers.get('allow') }).toEqual({ status: 405, allow });
    expect(answer.headers.get('location')).toBeNull();
    expect(answer.headers.getSetCookie()).toEqual([]);
  };

  it('refuses HEAD, and continues with GET unaffected', async () => {
    const browser = createBrowser();
    await signIn(browser, world.origin, SAM);
    // At each redirect, HEAD is sent first.
    let { url } = await authorizationRequest(app);
    const steps: string[] = [];
    for (;;) {
      const at = new URL(url).pathname.replace(/[\w-]{21,}/, 'ID');
      steps.push(at);
      expectRefused(
        await send(browser, 'HEAD', url),
        /^\/oauth\/(interaction|authorize$)/.test(at) ? 'GET, POST' : 'GET',
      );
      const page = await browser.open(url, () => false);
      if (page.location === undefined) {
        expect(page.text).toContain('<main id="consent">');
        break;
      }
      url = page.location;
    }
    expect(steps).toEqual([
      '/oauth/authorize',
      '/oauth/interaction/ID',
      '/oauth/authorize/ID',
      '/oauth/interaction/ID',
    ]);
  });

  it.each(['return', 'switch'])('at /%s refuses HEAD too', async (step) => {
    const { browser, page } = await reachConsent((await authorizationRequest(app)).url);
    expectRefused(await send(browser, 'HEAD', `${page.url}/${step}`), 'GET');
    expect((await browser.open(page.url)).text).toContain('<main id="consent">');
  });

  it('answered three times at once gives one code, and an error page otherwise', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { browser, page } = await reachConsent((await authorizationRequest(app)).url);
      const fields = { decision: 'approve', scope: 'courses:read' };
      const toApp = (location: string) => !location.startsWith(app.redirectUri);
      const answers = await Promise.all([1, 2, 3].map(() => browser.submit(page, fields, toApp)));
      const codes = answers.filter(({ location }) => location?.includes('code='));
      expect(codes).toHaveLength(1);
      for (const answer of answers.filter((one) => one !== codes[0])) {
        expect(answer.status).toBe(400);
        expect(answer.text).toContain('<main id="error">');
      }
    }
  });

  it('continued three times at once gives one code, and an error page otherwise', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { browser, page } = await reachConsent((await authorizationRequest(app)).url);
      const fields = { decision: 'approve', scope: 'courses:read' };
      const { location = '' } = await browser.submit(page, fields, () => false);
      expect(location).toContain('/oauth/authorize/');
      const toApp = (next: string) => !next.startsWith(app.redirectUri);
      const answers = await Promise.all([1, 2, 3].map(() => browser.open(location, toApp)));
      expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 400, 400]);
      expect(answers.filter((one) => one.location?.includes('code='))).toHaveLength(1);
    }
  });

  it('sets cookies that are HttpOnly, SameSite and limited to its path', async () => {
    const answer = await fetch((await authorizationRequest(app)).url, { redirect: 'manual' });
    const cookies = answer.headers.getSetCookie();
    expect(cookies.length).toBeGreaterThanOrEqual(4);
    for (const cookie of cookies) {
      expect(cookie).toMatch(/^coursegate_(interaction|resume)(\.sig)?=/);
      expect(cookie).toMatch(/; path=\/oauth\/(interaction|authorize)\/[\w-]{21,}; .*samesite=lax; httponly$/);
    }
  });

  it.each(['coursegate_interaction', 'coursegate_interaction.sig'])('does not accept a forged %s', async (name) => {
    const { browser, page } = await reachConsent((await authorizationRequest(app)).url);
    const held = browser.cookies.get(name);
    if (held === undefined) throw new Error(`no cookie ${name}`);
    const other = held.value.endsWith('_') ? '-' : '_';
    browser.cookies.set(name, { ...held, value: held.value.slice(0, -1) + other });
    const answer = await browser.open(page.url);
    expect(answer.status).toBe(400);
    expect(answer.text).not.toContain('Test App');
  });

  it.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS'])('refuses %s', async (method) => {
    expectRefused(await fetch((await authorizationRequest(app)).url, { method, redirect: 'manual' }), 'GET, POST');
  });
});

describe('a protected route, by method', () => {
  let world: World;
  let token: string;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A' });
    token = (await connect(await registerApp(world.origin))).access_token;
  });
  afterAll(() => world.close());

  it('treats HEAD like GET', async () => {
    const url = `${world.origin}/api/v1/courses`;
    const refused = await fetch(url, { method: 'HEAD' });
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token"/);
    expect((await fetch(url, { method: 'HEAD', headers: bearer(token) })).status).toBe(200);
    expect((await fetch(`${world.origin}/api/v1/orders`, { method: 'HEAD', headers: bearer(token) })).status).toBe(403);
  });

  it.each(['TRACE', 'OPTIONS', 'PROPFIND'])('refuses %s, with a token or without', async (method) => {
    for (const headers of [{}, bearer(token)]) {
      const answer = await rawRequest(world.origin, { method, path: '/api/v1/orders', headers });
      expect({ status: answer.status, allow: answer.headers.allow }).toEqual({ status: 405, allow: 'GET, HEAD' });
    }
  });

  it.each([
    ['GET', '/api/v1/courses'],
    ['GET', '/api/v1/courses/no-such-course'],
    ['POST', '/account/graphql'],
    ['POST', '/api/oauth/token'],
    ['POST', '/api/oauth/revoke'],
    ['POST', '/api/oauth/introspect'],
    ['POST', '/api/oauth/register'],
    ['POST', '/api/oauth/par'],
    ['GET', '/api/oauth/userinfo'],
    ['GET', '/.well-known/oauth-authorization-server'],
  ])('answers the preflight of another origin for %s %s, without credentials', async (method, path) => {
    const asked = await fetch(world.origin + path, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': method,
        'access-control-request-headers': 'authorization, content-type',
      },
    });
    expect(asked.status).toBe(204);
    expect(asked.headers.get('access-control-allow-origin')).toBe('*');
    expect(asked.headers.get('access-control-allow-credentials')).toBeNull();
    expect(asked.headers.get('access-control-allow-methods')).toContain(method);
    expect(asked.headers.get('access-control-allow-headers')).toMatch(/authorization.*content-type/i);
  });

  it.each(['/oauth/authorize', '/oauth/interaction/x'])(
    'answers no preflight of another origin at %s',
    async (path) => {
      const asked = await fetch(world.origin + path, {
        method: 'OPTIONS',
        headers: { origin: 'https://evil.test', 'access-control-request-method': 'GET' },
      });
      expect(asked.status).toBe(405);
      expect(asked.headers.get('access-control-allow-origin')).toBeNull();
    },
  );
});
