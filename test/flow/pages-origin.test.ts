import { createHash } from 'node:crypto';
import { request as send } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { load, mistakes, SMALL } from '../config/fixture.ts';
import { authorizationRequest, redeem, registerApp } from '../support/app.ts';
import { createBrowser } from '../support/browser.ts';
import { createAuthority } from '../support/certificates.ts';
import { browserPresent, launchChromium } from '../support/chromium.ts';
import { type CookieSchool, startCookieSchool } from '../support/cookie-school.ts';
import { offeredScopes } from '../support/member.ts';
import { rawRequest } from '../support/raw.ts';
import { startWorld, type World } from '../support/world.ts';

const SESSION_LOGIN = {
  upstream: 'school',
  whoami: { path: '/api/me' },
  loginUrl: '/login',
  cookies: ['school_session'],
};

describe('pages.origin', () => {
  let school: CookieSchool;
  let world: World;
  let pages: string;
  beforeAll(async () => {
    school = await startCookieSchool();
    world = await startWorld({
      profile: 'A',
      adjust: (config) => {
        pages = config.origin.replace('localhost', '127.0.0.1');
        return { ...config, pages: { ...config.pages, origin: pages } };
      },
      overrides: {
        upstreams: {
          school: { url: school.url, identity: [], credential: { kind: 'session', cookies: ['school_session'] } },
        },
        routes: [{ match: '* /api/legacy/**', upstream: 'school', anonymous: 'refuse' }],
        login: SESSION_LOGIN,
      },
    });
  });
  afterAll(async () => {
    await world.close();
    await school.close();
  });

  /** Opens an address without following redirects. */
  const open = (url: string, init: RequestInit = {}) =>
    fetch(url, { redirect: 'manual', ...init, headers: { accept: 'text/html', ...init.headers } });
  const to = (answer: Response, base: string) => new URL(answer.headers.get('location') ?? '', base).href;
  const cookiesOf = (answer: Response) =>
    answer.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ');

  it('redirects authorization requests and pages there, and refuses their forms at the origin', async () => {
    const { url } = await authorizationRequest(await registerApp(world.origin));
    const answer = await open(url);
    expect([answer.status, answer.headers.get('cache-control'), answer.headers.getSetCookie()]).toEqual([
      303,
      'no-store',
      [],
    ]);
    expect(to(answer, url)).toBe(url.replace(world.origin, pages));
    expect(to(await open(`${world.origin}/oauth/apps?ui_locales=de`), url)).toBe(`${pages}/oauth/apps?ui_locales=de`);
    for (const path of ['/oauth/interaction/x', '/oauth/apps/disconnect']) {
      const posted = await open(world.origin + path, { method: 'POST', body: new URLSearchParams({ csrf: 'x' }) });
      expect([path, posted.status]).toEqual([path, 403]);
    }
  });

  it('serves nothing else at that host', async () => {
    const elsewhere = [
      ...['/', '/courses', '/mcp', '/auth.md', '/openapi.json', '/.well-known/oauth-authorization-server'],
      ...['/api/oauth/token', '/api/legacy/x', '/oauth/hand-over/x', '/api/me'],
    ];
    for (const path of elsewhere)
      for (const method of ['GET', 'POST', 'OPTIONS'])
        expect([method, path, (await open(pages + path, { method })).status]).toEqual([method, path, 404]);
    expect((await open(`${pages}/oauth/assets/pages.css`)).status).toBe(200);
    const { authorization_endpoint, issuer } = (await (
      await fetch(`${world.origin}/.well-known/oauth-authorization-server`)
    ).json()) as Record<string, string>;
    expect([issuer, authorization_endpoint]).toEqual([world.origin, `${world.origin}/oauth/authorize`]);
  });

  it('gives an app the session of the member, although the site’s cookie does not reach that host', async () => {
    const session = school.signIn('m-7');
    const browser = createBrowser();
    const app = await registerApp(world.origin);
    const request = await authorizationRequest(app);
    // The site's cookie is sent to `origin` only.
    const hop = await browser.open(request.url, (location) => !location.includes('/oauth/hand-over/'));
    const handOver = await open(hop.location ?? '', { headers: { cookie: `school_session=${session}` } });
    const consent = await browser.open(to(handOver, world.origin));
    expect(new URL(consent.url).origin).toBe(pages);
    const fields = { decision: 'approve', scope: offeredScopes(consent) };
    const last = await browser.submit(consent, fields, (location) => !location.startsWith(app.redirectUri));
    const tokens = await redeem(app, request, new URL(last.location ?? ''));
    const answer = await fetch(`${world.origin}/api/legacy/x`, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    });
    expect([answer.status, await answer.json()]).toMatchObject([200, { member: 'm-7' }]);
    // Each step asks the site again: signed out there is signed out here.
    school.signOut(session);
    const next = await browser.open((await authorizationRequest(app)).url, (to) => !to.includes('/oauth/hand-over/'));
    expect(next.location).toContain(`${world.origin}/oauth/hand-over/`);
  });

  it('accepts a hand-over once, and only in the browser and for the sign-in that it is for', async () => {
    const begin = async () => {
      const { url } = await authorizationRequest(await registerApp(world.origin));
      const browser = createBrowser();
      const hop = await browser.open(url, (location) => !location.includes('/oauth/hand-over/'));
      return { browser, at: hop.location ?? '' };
    };
    const [one, two] = [await begin(), await begin()];
    const cookie = `school_session=${school.signIn('m-8')}`;
    const callback = to(await open(one.at, { headers: { cookie } }), world.origin);
    // Another browser: an attacker who got the address, or a victim who is sent there.
    expect((await two.browser.open(callback)).status).toBe(400);
    // The id of another sign-in.
    const other = new URL(to(await open(two.at, { headers: { cookie } }), world.origin));
    other.searchParams.set('id', new URL(callback).searchParams.get('id') ?? '');
    expect((await two.browser.open(other.href)).status).toBe(400);
    expect((await one.browser.open(callback)).text).toContain('<main id="consent">');
    expect((await one.browser.open(callback)).status).toBe(400);
  });

  it('hands nothing over to a script', async () => {
    const fields = { 'sec-fetch-dest': 'empty', 'sec-fetch-site': 'same-origin' };
    const cookie = `school_session=${school.signIn('m-9')}`;
    const answer = await open(`${world.origin}/oauth/hand-over/${'a'.repeat(43)}`, { headers: { cookie, ...fields } });
    expect([answer.status, answer.headers.get('location')]).toEqual([403, null]);
    expect(cookiesOf(answer)).toBe('');
  });

  it('leads a member who is not signed in to the site’s sign-in page, and back through the origin', async () => {
    const state = 'a'.repeat(43);
    const answer = await open(`${world.origin}/oauth/hand-over/${state}`);
    expect(to(answer, world.origin)).toBe(`${world.origin}/login?return_to=%2Foauth%2Fhand-over%2F${state}%2Freturn`);
    const back = await open(`${world.origin}/oauth/hand-over/${state}/return`);
    expect(to(back, world.origin)).toBe(`${pages}/oauth/sign-in/callback/site?state=${state}`);
    for (const wrong of ['x', state.slice(1), `${state}a`, `${state.slice(1)}.`])
      expect((await open(`${world.origin}/oauth/hand-over/${wrong}`)).status, wrong).toBe(400);
  });

  it('is where the pages at addresses for programs lead', async () => {
    const headers = { accept: 'text/html', 'sec-fetch-mode': 'navigate' };
    for (const path of ['/mcp', '/auth.md', '/api/oauth/userinfo']) {
      const { text } = await rawRequest(world.origin, { path, headers });
      expect(text).toContain('href="/oauth/apps"');
    }
    expect(await rawRequest(world.origin, { path: '/oauth/apps', headers })).toMatchObject({
      status: 303,
      headers: { location: `${pages}/oauth/apps` },
    });
    expect(await rawRequest(pages, { path: '/auth.md', headers })).toMatchObject({ status: 404 });
  });

  it('names what is not needed', async () => {
    const text = `${SMALL}pages: { origin: "https://login.school.example", serviceWorkers: refuse }\n`;
    const told = (await load(text)).warnings.map(({ message }) => message).join('\n');
    expect(told).toContain('is not needed: no service worker of the site reaches the host of pages.origin');
  });

  it.each([
    ['https://school.example:8443', 'must be at another host than `origin`'],
    ['https://school.example', 'must be at another host than `origin`'],
    ['http://localhost:8080', 'must be https, like `origin`'],
  ])('cannot be %s', async (origin, message) => {
    expect((await mistakes(`${SMALL}pages: { origin: "${origin}" }\n`)).join('\n')).toContain(message);
  });
});

describe.skipIf(!browserPresent())('the gate with https', () => {
  it('names its session cookie so that no subdomain can set it', async () => {
    const school = await startCookieSchool();
    const authority = createAuthority();
    const { cert, key } = authority.issue('school.localhost');
    let gate = '';
    // Ends TLS in front of the gate. The subdomain is the attacker's, and sets cookies for the whole domain.
    const front = createTlsServer({ cert, key }, (request, response) => {
      if (request.headers.host?.startsWith('evil.')) {
        const names = ['coursegate_session', 'coursegate_session.sig', '__Host-coursegate_session'];
        names.push('coursegate_interaction', 'coursegate_interaction.sig', 'coursegate_resume');
        const paths = ['/', '/oauth', '/oauth/authorize', '/oauth/interaction'];
        const tossed = names.flatMap((name) =>
          paths.map((path) => `${name}=tossed; Domain=school.localhost; Path=${path}; Secure`),
        );
        response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': tossed }).end('<p>evil</p>');
        return;
      }
      const { method, url, headers } = request;
      const onward = send(new URL(url ?? '/', gate), { method: method ?? 'GET', headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      request.pipe(onward);
    });
    await new Promise<void>((done) => front.listen(0, '127.0.0.1', done));
    const origin = `https://school.localhost:${(front.address() as AddressInfo).port}`;
    const world = await startWorld({
      profile: 'B',
      adjust: (config) => ({ ...config, origin }),
      overrides: { upstreams: { school: { url: school.url } }, login: SESSION_LOGIN },
    });
    gate = world.origin;
    const browser = await launchChromium();
    try {
      const redirectUri = 'http://127.0.0.1:9/callback';
      const registered = await fetch(`${gate}/api/oauth/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ client_name: 'App', redirect_uris: [redirectUri] }),
      });
      const { client_id } = (await registered.json()) as { client_id: string };
      const context = await browser.newContext({ ignoreHTTPSErrors: true });
      context.setDefaultTimeout(15_000);
      await context.addCookies([{ name: 'school_session', value: school.signIn('m-1'), url: origin }]);
      const page = await context.newPage();
      await page.goto(origin.replace('school.', 'evil.school.'));
      const query = new URLSearchParams({
        ...{ response_type: 'code', client_id, redirect_uri: redirectUri, scope: 'openid courses:read', state: 's' },
        code_challenge: createHash('sha256').update('v'.repeat(43)).digest('base64url'),
        code_challenge_method: 'S256',
      });
      await page.goto(`${origin}/oauth/authorize?${query}`);
      const arrived = page.waitForRequest((one) => one.url().startsWith(redirectUri));
      await page.locator('main#consent button[value=approve]').click();
      expect(new URL((await arrived).url()).searchParams.get('code')).toMatch(/^[\w-]{43}$/);
      const kept = (await context.cookies(origin)).filter(({ name }) => name.startsWith('__Host-'));
      expect(kept.map(({ name, path, secure }) => ({ name, path, secure }))).toEqual([
        { name: '__Host-coursegate_session', path: '/', secure: true },
        { name: '__Host-coursegate_session.sig', path: '/', secure: true },
      ]);
    } finally {
      await browser.close();
      await world.close();
      front.closeAllConnections();
      front.close();
      await school.close();
      authority.close();
    }
  });
});
