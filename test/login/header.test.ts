import { request as httpRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { exportJWK, type JWTPayload } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { headerConnector } from '../../src/login/header/connector.ts';
import { headerLogin } from '../../src/login/header/settings.ts';
import { authorizationRequest, bearer, redeem, registerApp } from '../support/app.ts';
import { createBrowser } from '../support/browser.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';
import { type ScriptedIdp, signedBy, signingKey, startScriptedIdp } from './support/scripted-idp.ts';

/** The address that the proxy connects from. Other clients connect from 127.0.0.1. */
const PROXY = '127.0.0.77';
let ahead = 0;
let idp: ScriptedIdp;
let upstream: RecordingUpstream;
let world: World;

const settings = (login: Record<string, unknown>) => ({
  listen: { trustedProxies: [PROXY] },
  login: { kind: 'header', ...login },
  upstreams: { school: { url: upstream.url } },
});

const PLAIN = { user: 'X-SSO-Member', email: 'X-SSO-Email', name: 'X-SSO-Name' };
const JWT = () => ({
  jwt: {
    header: 'Cf-Access-Jwt-Assertion',
    jwks: `${idp.issuer}/jwks`,
    issuer: 'https://team.test',
    audience: 'app-1',
  },
});

beforeAll(async () => {
  idp = await startScriptedIdp();
  upstream = await startRecordingUpstream();
  world = await startWorld({ profile: 'A', clock: () => Date.now() + ahead, overrides: settings(PLAIN) });
});
afterAll(async () => {
  await world.close();
  await upstream.close();
  await idp.close();
});
beforeEach(() => {
  ahead = 0;
  idp.reset();
});

type Fields = Readonly<Record<string, string | string[]>>;
interface Answer {
  readonly status: number;
  readonly text: string;
  readonly location: string | undefined;
}

const get = async (url: string, headers: Fields, from = PROXY): Promise<Answer> => {
  const response = await new Promise<IncomingMessage>((resolve, reject) =>
    httpRequest(url, { headers, localAddress: from, family: 4, agent: false }, resolve).on('error', reject).end(),
  );
  const { statusCode: status = 0, headers: said } = response;
  return { status, text: await text(response), location: said.location };
};

/** The connected apps page: shows whose it is, or where an anonymous request is sent. */
const apps = (headers: Fields, from = PROXY) => get(`${world.origin}/oauth/apps`, headers, from);

describe('a header field of a trusted proxy', () => {
  beforeAll(() => world.restart(settings(PLAIN)));

  it('signs a member in, with their email and name', async () => {
    const page = await apps({ 'x-sso-member': '1001', 'x-sso-email': 'sam@school.test', 'x-sso-name': 'Sam' });
    expect(page.status).toBe(200);
    expect(page.text).toContain('sam@school.test');
    const named = await apps({ 'x-sso-member': '1001', 'x-sso-name': Buffer.from('Zoë').toString('latin1') });
    expect(named.text).toContain('Zoë');
  });

  it('leads to the consent page of an app', async () => {
    const { url } = await authorizationRequest(await registerApp(world.origin));
    const fields = { 'x-sso-member': '1001', 'x-sso-email': 'sam@school.test' };
    const cookies = new Map<string, string>();
    let at = url;
    let page: Answer | undefined;
    for (let hops = 0; hops < 6 && (page === undefined || page.location !== undefined); hops += 1) {
      const response = await new Promise<IncomingMessage>((resolve, reject) =>
        httpRequest(
          at,
          {
            headers: { ...fields, cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
            localAddress: PROXY,
            family: 4,
            agent: false,
          },
          resolve,
        )
          .on('error', reject)
          .end(),
      );
      for (const line of response.headers['set-cookie'] ?? []) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        cookies.set(name, value);
      }
      const { location } = response.headers;
      page = { status: response.statusCode ?? 0, text: await text(response), location };
      if (location !== undefined) at = new URL(location, at).href;
    }
    expect(page?.text).toContain('id="consent"');
    expect(page?.text).toContain('sam@school.test');
  });

  it.each<[string, Fields, string]>([
    ['from an untrusted client', { 'x-sso-member': '1001' }, '127.0.0.1'],
    [
      'from an untrusted client that claims to be the proxy',
      { 'x-sso-member': '1001', 'x-forwarded-for': PROXY },
      '127.0.0.1',
    ],
    ['in another spelling', { x_sso_member: '1001' }, PROXY],
    ['that is empty', { 'x-sso-member': '' }, PROXY],
    ['that is missing', {}, PROXY],
    ['with another name', { 'x-forwarded-user': '1001', 'remote-user': '1001' }, PROXY],
  ])('is ignored: %s', async (_, fields, from) => {
    const page = await apps(fields, from);
    expect([page.status, page.location]).toEqual([303, `${world.origin}/oauth/apps/return`]);
    const returned = await get(`${world.origin}/oauth/apps/return`, fields, from);
    expect(returned.status).toBe(200);
    expect(returned.text).not.toContain('1001');
  });

  it.each<[string, string | string[]]>([
    ['two values', ['1001', '1002']],
    ['two values in one field', '1001, 1002'],
    ['no id', '0'],
    ['bytes that are not UTF-8', '\u00ff\u00fe'],
  ])('with %s fails the sign-in', async (_, value) => {
    const page = await apps({ 'x-sso-member': value });
    expect(page.status).toBe(503);
    // The ids of the request and the trace may contain any digits.
    expect(page.text.replace(/(?:request|trace) [\da-f-]+/g, '')).not.toContain('1001');
  });

  it('is never forwarded to an upstream, however it is spelled', async () => {
    const fields = { 'x-sso-member': '1001', 'x-sso-email': 'a@b.test', 'X-SSO-Name': 'Sam', 'x-other': 'kept' };
    for (const from of [PROXY, '127.0.0.1']) {
      await get(`${world.origin}/some/page`, fields, from);
      const heard = upstream.last().rawHeaders.map((one) => one.toLowerCase());
      expect(heard).toContain('x-other');
      expect(heard.filter((one) => one.startsWith('x-sso'))).toEqual([]);
    }
  });
});

describe('a signed assertion of a proxy', () => {
  const now = () => Math.floor(Date.now() / 1000);
  const said = (claims: JWTPayload = {}): JWTPayload => ({
    iss: 'https://team.test',
    aud: ['app-1', 'app-2'],
    sub: '1001',
    email: 'sam@school.test',
    iat: now(),
    exp: now() + 300,
    ...claims,
  });
  const withToken = async (claims: JWTPayload = {}, header = {}) => ({
    'cf-access-jwt-assertion': await signedBy(idp.key, said(claims), header),
  });

  beforeEach(() => world.restart(settings(JWT())));

  it('signs a member in on any connection, and its keys are fetched once', async () => {
    for (const from of [PROXY, '127.0.0.1']) {
      const page = await apps(await withToken(), from);
      expect(page.status).toBe(200);
      expect(page.text).toContain('sam@school.test');
    }
    expect(idp.hits).toEqual(['/jwks']);
  });

  it.each([true, false])('says whether the email is verified: %s', async (verified) => {
    const app = await registerApp(world.origin);
    const request = await authorizationRequest(app, { scope: 'openid email' });
    const fields = await withToken({ email_verified: verified });
    const browser = createBrowser(fields);
    const page = await browser.open(request.url);
    const elsewhere = (location: string) => !location.startsWith(app.redirectUri);
    const last = await browser.submit(page, { decision: 'approve', scope: 'email' }, elsewhere);
    const { access_token } = await redeem(app, request, new URL(last.location ?? ''));
    const answer = await fetch(`${world.origin}/api/oauth/userinfo`, { headers: bearer(access_token) });
    expect(await answer.json()).toEqual({ sub: '1001', email: 'sam@school.test', email_verified: verified });
  });

  it('uses another claim if one is configured', async () => {
    const { jwt } = JWT();
    await world.restart(settings({ jwt: { ...jwt, claims: { subject: 'email' } } }));
    expect((await apps(await withToken({ sub: undefined as never }))).status).toBe(200);
  });

  it.each<[string, () => Promise<string> | string]>([
    ['of another issuer', () => signedBy(idp.key, said({ iss: 'https://other.test' }))],
    ['of the issuer with a trailing slash', () => signedBy(idp.key, said({ iss: 'https://team.test/' }))],
    ['for another audience', () => signedBy(idp.key, said({ aud: 'app-11' }))],
    ['for the audience with a trailing slash', () => signedBy(idp.key, said({ aud: ['app-1/', 'app'] }))],
    ['without an audience', () => signedBy(idp.key, said({ aud: undefined as never }))],
    ['that has expired', () => signedBy(idp.key, said({ exp: now() - 60 }))],
    ['without exp', () => signedBy(idp.key, said({ exp: undefined as never }))],
    ['issued tomorrow', () => signedBy(idp.key, said({ iat: now() + 86_400, exp: now() + 90_000 }))],
    ['signed by an unknown key', async () => signedBy(await signingKey('k1'), said())],
    ['without iat', () => signedBy(idp.key, said({ iat: undefined as never }))],
    ['that is not valid yet', () => signedBy(idp.key, said({ nbf: now() + 300 }))],
    ['with jku', () => signedBy(idp.key, said(), { jku: `${idp.issuer}/bait` })],
    ['with x5u', () => signedBy(idp.key, said(), { x5u: `${idp.issuer}/bait` })],
    ['with x5c', () => signedBy(idp.key, said(), { x5c: ['MIIB'] })],
    ['with jwk', async () => signedBy(idp.key, said(), { jwk: await exportJWK(idp.key.pair.publicKey) })],
    [
      'with alg none',
      () =>
        `${[{ alg: 'none' }, said()].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.`,
    ],
    ['that is invalid', () => 'sam'],
    ['twice', async () => `${await signedBy(idp.key, said())}, ${await signedBy(idp.key, said())}`],
  ])('is ignored: %s', async (_, token) => {
    const page = await apps({ 'cf-access-jwt-assertion': await token() });
    expect(page.status).toBe(303);
    expect(idp.hits).not.toContain('/bait');
  });

  it('is rejected with an algorithm that is not listed, even with the issuer’s key', async () => {
    for (const [at, [alg, status]] of [['RS512', 303] as const, ['ES256', 200] as const].entries()) {
      idp.key = await signingKey(`other-${at}`, alg);
      idp.published = [idp.key];
      ahead += 31_000;
      expect((await apps(await withToken())).status).toBe(status);
    }
  });

  it('is checked with the gate’s clock', async () => {
    const fields = await withToken();
    expect((await apps(fields)).status).toBe(200);
    ahead = 600_000;
    expect((await apps(fields)).status).toBe(303);
    expect((await apps(await withToken({ iat: now() + 600, exp: now() + 900 }))).status).toBe(200);
  });

  it('fails the sign-in while its keys cannot be fetched, and works afterwards', async () => {
    idp.answers['/jwks'] = (response) => response.writeHead(502).end();
    expect((await apps(await withToken())).status).toBe(503);
    idp.reset();
    expect((await apps(await withToken())).status).toBe(200);
  });

  it('fails the sign-in without a usable ID', async () => {
    expect((await apps(await withToken({ sub: ' ' }))).status).toBe(503);
  });
});

describe('a member behind a proxy who is not signed in', () => {
  it('is redirected to the proxy’s sign-in, and to switchUrl to switch accounts', async () => {
    await world.restart(settings({ ...PLAIN, signInUrl: '/oauth2/start', switchUrl: 'https://sso.test/out?a=b' }));
    const { location = '' } = await apps({});
    const start = new URL(location);
    expect(start.origin + start.pathname).toBe(`${world.origin}/oauth2/start`);
    expect(start.searchParams.get('rd')).toBe(`${world.origin}/oauth/apps/return`);
    const login = headerLogin.parse({
      ...{ kind: 'header', user: 'Remote-User', signInUrl: '/oauth2/start', returnParam: 'next' },
      switchUrl: 'https://sso.test/out?a=b',
    });
    const { signInUrl } = headerConnector(login, 'https://school.test', Date.now);
    const wish = { loginHint: undefined, uiLocales: undefined };
    const back = new URL('https://school.test/oauth/apps/return');
    const encoded = 'https%3A%2F%2Fschool.test%2Foauth%2Fapps%2Freturn';
    expect(signInUrl(back, { ...wish, another: true }).href).toBe(`https://sso.test/out?a=b&next=${encoded}`);
    expect(signInUrl(back, wish).href).toBe(`https://school.test/oauth2/start?next=${encoded}`);
  });
});
