import { exportJWK, type JWTPayload } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { authorizationRequest, bearer, redeem, registerApp } from '../support/app.ts';
import { createBrowser } from '../support/browser.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';
import { type ScriptedIdp, signedBy, signingKey, startScriptedIdp } from './support/scripted-idp.ts';

let ahead = 0;
let idp: ScriptedIdp;
let upstream: RecordingUpstream;
let world: World;

const settings = () => ({
  login: {
    kind: 'jwt-cookie',
    jwt: { cookie: 'school_token', jwks: `${idp.issuer}/jwks`, issuer: 'https://school.test', audience: 'school' },
    loginUrl: '/sign-in',
    hintParam: 'user',
  },
  site: { upstream: 'school' },
  upstreams: { school: { url: upstream.url } },
  claims: { roles: { scope: 'profile', from: '/realm/roles' } },
});

const now = () => Math.floor(Date.now() / 1000);
const said = (claims: JWTPayload = {}): JWTPayload => ({
  iss: 'https://school.test',
  aud: 'school',
  sub: '1001',
  email: 'sam@school.test',
  iat: now(),
  exp: now() + 300,
  ...claims,
});
const tokenOf = (claims: JWTPayload = {}, header = {}) => signedBy(idp.key, said(claims), header);

/** The page of connected apps: shows whose it is, or where a request of no one is sent. */
const apps = (cookie: string) => fetch(`${world.origin}/oauth/apps`, { headers: { cookie }, redirect: 'manual' });

beforeAll(async () => {
  idp = await startScriptedIdp();
  upstream = await startRecordingUpstream();
  world = await startWorld({ profile: 'A', clock: () => Date.now() + ahead, overrides: settings() });
});
afterAll(async () => {
  await world.close();
  await upstream.close();
  await idp.close();
});
beforeEach(async () => {
  ahead = 0;
  idp.reset();
  await world.restart(settings());
});

describe('a signed token in a cookie of the site', () => {
  it('signs the member in, without a request to the site', async () => {
    const before = upstream.requests.length;
    const page = await apps(`other=1; school_token=${await tokenOf()}; last=2`);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('sam@school.test');
    expect(upstream.requests.length).toBe(before);
    expect(idp.hits).toEqual(['/jwks']);
  });

  it('may be in quotes, and sent twice with the same value', async () => {
    const token = await tokenOf();
    expect((await apps(`school_token="${token}"`)).status).toBe(200);
    expect((await apps(`school_token=${token}; school_token=${token}`)).status).toBe(200);
  });

  it('lets an app act for the member, with the claims that the token has', async () => {
    const app = await registerApp(world.origin);
    const request = await authorizationRequest(app, { scope: 'openid profile email' });
    const token = await tokenOf({ email_verified: true, name: 'Sam', realm: { roles: ['student'] } });
    const browser = createBrowser();
    browser.cookies.set('school_token', { value: token, path: '/' });
    const page = await browser.open(request.url);
    expect(page.text).toContain('id="consent"');
    const elsewhere = (location: string) => !location.startsWith(app.redirectUri);
    const last = await browser.submit(page, { decision: 'approve', scope: ['profile', 'email'] }, elsewhere);
    const { access_token } = await redeem(app, request, new URL(last.location ?? ''));
    const answer = await fetch(`${world.origin}/api/oauth/userinfo`, { headers: bearer(access_token) });
    expect(await answer.json()).toEqual({
      sub: '1001',
      name: 'Sam',
      email: 'sam@school.test',
      email_verified: true,
      roles: ['student'],
    });
  });

  it.each<[string, () => Promise<string> | string]>([
    ['of another issuer', () => tokenOf({ iss: 'https://other.test' })],
    ['for another audience', () => tokenOf({ aud: 'shop' })],
    ['without an audience', () => tokenOf({ aud: undefined as never })],
    ['that has expired', () => tokenOf({ exp: now() - 60 })],
    ['without exp', () => tokenOf({ exp: undefined as never })],
    ['that is not valid yet', () => tokenOf({ nbf: now() + 300 })],
    ['signed by another key', async () => signedBy(await signingKey('k1'), said())],
    ['with the key in its header', async () => tokenOf({}, { jwk: await exportJWK(idp.key.pair.publicKey) })],
    ['with an address of keys in its header', () => tokenOf({}, { jku: `${idp.issuer}/bait` })],
    [
      'that is not signed',
      () =>
        `${[{ alg: 'none' }, said()].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.`,
    ],
    ['that is no token', () => 'sam'],
    ['that is empty', () => ''],
  ])('counts as no one: %s', async (_, token) => {
    const page = await apps(`school_token=${await token()}`);
    expect(page.status).toBe(303);
    expect(idp.hits).not.toContain('/bait');
  });

  it('counts as no one beside a second cookie of this name, which a neighbouring site may have set', async () => {
    const [mine, theirs] = [await tokenOf(), await tokenOf({ sub: '1002' })];
    for (const cookie of [`school_token=${mine}; school_token=${theirs}`, `school_token=x; school_token=${mine}`])
      expect((await apps(cookie)).status).toBe(303);
  });

  it('is read from the cookie of exactly this name', async () => {
    const token = await tokenOf();
    for (const name of ['School_Token', 'school_token2', 'a_school_token', 'school_token ='])
      expect((await apps(`${name}=${token}`)).status).toBe(303);
  });

  it('is checked with the gate’s clock, at each step', async () => {
    const cookie = `school_token=${await tokenOf()}`;
    expect((await apps(cookie)).status).toBe(200);
    ahead = 600_000;
    expect((await apps(cookie)).status).toBe(303);
  });

  it('fails the sign-in while the keys cannot be fetched, and works afterwards', async () => {
    const cookie = `school_token=${await tokenOf()}`;
    idp.answers['/jwks'] = (response) => response.writeHead(502).end();
    expect((await apps(cookie)).status).toBe(503);
    idp.reset();
    expect((await apps(cookie)).status).toBe(200);
  });

  it('fails the sign-in if it has no usable id', async () => {
    expect((await apps(`school_token=${await tokenOf({ sub: ' ' })}`)).status).toBe(503);
  });
});

describe('a member without the cookie', () => {
  it('is sent to the sign-in page of the site, with the way back and the hint of the app', async () => {
    const app = await registerApp(world.origin);
    const { url } = await authorizationRequest(app, { login_hint: 'sam' });
    const sent = await createBrowser().open(url, (location) => !new URL(location).pathname.startsWith('/sign-in'));
    const page = new URL(sent.location ?? '');
    expect([page.origin, page.pathname]).toEqual([world.origin, '/sign-in']);
    expect(page.searchParams.get('return_to')).toMatch(/^\/oauth\//);
    expect(page.searchParams.get('user')).toBe('sam');
  });
});

describe('pages at another host', () => {
  it('get the cookie from the host of the site by a hand-over', async () => {
    const split = await startWorld({
      profile: 'A',
      adjust: (config) => ({
        ...config,
        pages: { ...config.pages, origin: config.origin.replace('localhost', '127.0.0.1') },
      }),
      overrides: settings(),
    });
    try {
      const { url } = await authorizationRequest(await registerApp(split.origin));
      const cookies = new Map<string, Map<string, string>>([
        [split.origin, new Map([['school_token', await tokenOf()]])],
      ]);
      const visited: string[] = [];
      let at = url;
      let page: Response | undefined;
      while (visited.length < 12 && (page === undefined || page.headers.has('location'))) {
        const { origin, pathname } = new URL(at);
        visited.push(`${origin === split.origin ? 'site' : 'pages'} ${pathname.replace(/[\w-]{20,}/g, 'ID')}`);
        const jar = cookies.get(origin) ?? new Map();
        cookies.set(origin, jar);
        const cookie = [...jar].map((pair) => pair.join('=')).join('; ');
        page = await fetch(at, { redirect: 'manual', headers: { accept: 'text/html', cookie } });
        for (const line of page.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
          jar.set(name, value);
        }
        at = new URL(page.headers.get('location') ?? '', at).href;
      }
      expect(visited).toContain('site /oauth/hand-over/ID');
      expect(visited.at(-1)).toMatch(/^pages /);
      const text = (await page?.text()) ?? '';
      expect(text).toContain('id="consent"');
      expect(text).toContain('sam@school.test');
    } finally {
      await split.close();
    }
  });
});
