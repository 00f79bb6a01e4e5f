import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type App, authorizationRequest, introspect, redeem, refresh, registerApp } from '../support/app.ts';
import { type Browser, createBrowser, type Page } from '../support/browser.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';

type Parameters = Record<string, string | undefined>;

const now = () => Math.floor(Date.now() / 1000);

/** A school that reports when and how its members signed in and takes a hint; each test sets what it returns. */
describe('the sign-in that an app requests', () => {
  let upstream: RecordingUpstream;
  let world: World;
  let app: App;
  let member: Record<string, unknown> | undefined;
  beforeAll(async () => {
    upstream = await startRecordingUpstream((request, response) => {
      const who = request.url === '/api/me';
      response.writeHead(who && member === undefined ? 401 : 200, {
        'content-type': who ? 'application/json' : 'text/html',
      });
      response.end(who ? JSON.stringify(member ?? {}) : '<main id="school-login">');
    });
    world = await startWorld({
      profile: 'A',
      overrides: {
        upstreams: { school: { url: upstream.url } },
        login: {
          whoami: { authTime: '/session/at', acr: '/session/how' },
          hintParam: 'user',
          acrValues: ['urn:password', 'urn:passkey'],
        },
      },
    });
    // A loopback redirect URI, so that errors are redirected to it from the first request on.
    app = await registerApp(world.origin, { redirectUri: 'http://127.0.0.1:5123/callback' });
  });
  afterAll(() => Promise.all([world.close(), upstream.close()]));
  beforeEach(() => signIn(now() - 3600, 'urn:password'));

  const signIn = (at: unknown, how: unknown) => {
    member = { id: 'm-7', email: 'sam@example.com', name: 'Sam', session: { at, how } };
  };
  const open = async (parameters: Parameters, by = app) => {
    const request = await authorizationRequest(by, parameters);
    const browser = createBrowser();
    browser.cookies.set('school_session', { value: 'mine', path: '/' });
    const page = await browser.open(request.url, toElsewhere);
    return { request, browser, page };
  };
  const toElsewhere = (location: string) => !location.startsWith(app.redirectUri);
  const atLogin = (page: Page) => new URL(page.url).pathname === '/login';
  const returned = (browser: Browser, page: Page) =>
    browser.open(world.origin + new URL(page.url).searchParams.get('return_to'), toElsewhere);
  /** What the app receives; undefined if the browser is not sent to it. */
  const answerOf = ({ location }: Page) =>
    location?.startsWith(app.redirectUri) ? Object.fromEntries(new URL(location).searchParams) : undefined;
  const approve = async (browser: Browser, page: Page) => {
    expect(page.text).toContain('<main id="consent">');
    const last = await browser.submit(page, { decision: 'approve', scope: 'courses:read' }, toElsewhere);
    return new URL(last.location ?? '');
  };

  it('without parameters goes straight to consent for a member who is signed in, and reports when and how', async () => {
    const at = now() - 3600;
    signIn(at, 'urn:password');
    const { request, browser, page } = await open({});
    const tokens = await redeem(app, request, await approve(browser, page));
    expect(decodeJwt(String(tokens.id_token))).toMatchObject({ sub: 'm-7', iss: world.origin });
    expect(await introspect(app, tokens.access_token)).toMatchObject({ acr: 'urn:password', auth_time: at });
    const renewed = await refresh(app, String(tokens.refresh_token));
    expect(await introspect(app, renewed.access_token)).toMatchObject({ acr: 'urn:password', auth_time: at });
  });

  it.each<[string, Parameters]>([
    ['prompt=login', { prompt: 'login' }],
    ['prompt=login consent', { prompt: 'login consent' }],
    ['max_age=600', { max_age: '600' }],
    ['max_age=0', { max_age: '0' }],
    ['acr_values', { acr_values: 'urn:passkey' }],
    ['all of them', { prompt: 'login', max_age: '600', acr_values: 'urn:passkey' }],
  ])('with %s sends a member who is signed in to the school again, once', async (_name, parameters) => {
    const { request, browser, page } = await open(parameters);
    expect(atLogin(page)).toBe(true);
    const at = now() + 1;
    signIn(at, 'urn:passkey');
    const tokens = await redeem(app, request, await approve(browser, await returned(browser, page)));
    expect(await introspect(app, tokens.access_token)).toMatchObject({ acr: 'urn:passkey', auth_time: at });
  });

  it.each(['select_account', 'select_account consent'])(
    'with prompt=%s shows a member who is signed in the consent page, with the account and a way to another',
    async (prompt) => {
      const { request, browser, page } = await open({ prompt });
      expect(page.text).toContain('<bdi>sam@example.com</bdi>');
      const { pathname } = new URL(page.url);
      expect(page.text).toContain(`<a href="${pathname}/switch">`);
      await redeem(app, request, await approve(browser, page));
    },
  );

  it('with prompt=select_account login is sent to the school again first', async () => {
    const { request, browser, page } = await open({ prompt: 'select_account login' });
    expect(atLogin(page)).toBe(true);
    signIn(now() + 1, undefined);
    await redeem(app, request, await approve(browser, await returned(browser, page)));
  });

  it('with prompt=none select_account is refused, because none stands alone', async () => {
    const { page } = await open({ prompt: 'none select_account' });
    expect(answerOf(page)?.error ?? page.text).toMatch(/invalid_request/);
  });

  it('with max_age puts auth_time into the ID token', async () => {
    const at = now() - 60;
    signIn(at, undefined);
    const { request, browser, page } = await open({ max_age: '600' });
    const tokens = await redeem(app, request, await approve(browser, page));
    expect(decodeJwt(String(tokens.id_token))).toMatchObject({ auth_time: at });
    expect(decodeJwt(String(tokens.id_token))).not.toHaveProperty('acr');
  });

  it.each<[string, Parameters]>([
    ['prompt=login', { prompt: 'login' }],
    ['max_age=600', { max_age: '600' }],
  ])('with %s is not satisfied by returning without having signed in', async (_name, parameters) => {
    const { browser, page } = await open(parameters);
    const again = await returned(browser, page);
    expect(again.status).toBe(200);
    expect(again.text).toContain('<main id="login">');
    const out = await browser.submit(again, { decision: 'deny' }, toElsewhere);
    expect(new URL(out.location ?? '').searchParams.get('error')).toBe('access_denied');
  });

  it('with acr_values is accepted at another level too, which is reported as it is', async () => {
    const { request, browser, page } = await open({ acr_values: 'urn:passkey' });
    const tokens = await redeem(app, request, await approve(browser, await returned(browser, page)));
    expect(await introspect(app, tokens.access_token)).toMatchObject({ acr: 'urn:password' });
    expect(decodeJwt(String(tokens.id_token))).toMatchObject({ acr: 'urn:password' });
  });

  it('at a school that reports no time has no auth_time', async () => {
    signIn(undefined, 'urn:password');
    const { request, browser, page } = await open({});
    const tokens = await redeem(app, request, await approve(browser, page));
    expect(decodeJwt(String(tokens.id_token))).not.toHaveProperty('auth_time');
    expect(await introspect(app, tokens.access_token)).not.toHaveProperty('auth_time');
    const renewed = await refresh(app, String(tokens.refresh_token));
    expect(decodeJwt(String(renewed.id_token))).not.toHaveProperty('auth_time');
    expect(await introspect(app, renewed.access_token)).not.toHaveProperty('auth_time');
  });

  it.each<[string, Parameters]>([
    ['prompt=login', { prompt: 'login' }],
    ['max_age=600', { max_age: '600' }],
    ['max_age=0', { max_age: '0' }],
  ])(
    'at a school that reports no time, with %s, is not satisfied by a visit to its sign-in page',
    async (_name, parameters) => {
      signIn(undefined, undefined);
      const { request, browser, page } = await open(parameters);
      expect(atLogin(page)).toBe(true);
      const back = await returned(browser, page);
      expect(back.text).toContain('<main id="unconfirmed">');
      expect(back.text).toContain('can’t confirm when you signed in');
      expect(answerOf(await browser.submit(back, { decision: 'approve', scope: 'courses:read' }, toElsewhere))).toBe(
        undefined,
      );
      const out = await browser.submit(back, { decision: 'deny' }, toElsewhere);
      expect(answerOf(out)).toEqual({
        error: 'unmet_authentication_requirements',
        error_description:
          'the login does not say when the member signed in, as prompt=login, max_age or require_auth_time need',
        state: request.state,
        iss: world.origin,
      });
    },
  );

  it('works the same for an app registered with require_auth_time or default_max_age', async () => {
    for (const metadata of [{ require_auth_time: true }, { default_max_age: 600 }]) {
      const strict = await registerApp(world.origin, { redirectUri: app.redirectUri, metadata: metadata as never });
      signIn(undefined, undefined);
      const first = await open({}, strict);
      expect(atLogin(first.page)).toBe(true);
      expect((await returned(first.browser, first.page)).text).toContain('<main id="unconfirmed">');
      const at = now() - 60;
      signIn(at, undefined);
      const { request, browser, page } = await open({}, strict);
      const tokens = await redeem(strict, request, await approve(browser, page));
      expect(decodeJwt(String(tokens.id_token))).toMatchObject({ auth_time: at });
    }
  });

  it('applies to another member who signs in at the consent page, too', async () => {
    const { browser, page } = await open({ prompt: 'login' });
    signIn(now() + 1, undefined);
    const consent = await returned(browser, page);
    expect(consent.text).toContain('<main id="consent">');
    member = { id: 'm-8', email: 'olu@example.com', name: 'Olu', session: { at: now() - 3600, how: undefined } };
    const asked = await browser.submit(consent, { decision: 'approve', scope: 'courses:read' }, toElsewhere);
    expect(atLogin(asked)).toBe(true);
    expect((await returned(browser, asked)).text).toContain('<main id="login">');
    member = { id: 'm-8', email: 'olu@example.com', name: 'Olu', session: { at: now() + 2, how: undefined } };
    expect((await returned(browser, asked)).text).toContain('<main id="consent">');
  });

  it('ignores a time that is not a number', async () => {
    signIn(`${now()}`, 7);
    expect(atLogin((await open({ max_age: '600' })).page)).toBe(true);
    expect(atLogin((await open({ acr_values: 'urn:passkey' })).page)).toBe(true);
  });

  it('passes login_hint to the sign-in page, as text', async () => {
    member = undefined;
    const hint = '"><script>alert(1)</script>&user=other';
    const { page } = await open({ login_hint: hint, ui_locales: hint, display: hint, id_token_hint: undefined });
    const url = new URL(page.url);
    expect(url.pathname).toBe('/login');
    expect(url.searchParams.getAll('user')).toEqual([hint]);
    expect(new URL((await open({})).page.url).searchParams.has('user')).toBe(false);
  });

  it('shows no parameter as markup', async () => {
    const bad = '"><script>alert(1)</script>';
    const parameters = { login_hint: bad, ui_locales: bad, display: bad, acr_values: `urn:password ${bad}` };
    const { page } = await open(parameters);
    expect(page.text).toContain('<main id="consent">');
    expect(page.text).not.toContain('<script');
  });

  it.each<[string, string, Parameters]>([
    ['login_required', 'prompt=none, of a member who is signed in', { prompt: 'none' }],
    ['invalid_request', 'prompt=none login', { prompt: 'none login' }],
    ['invalid_request', 'an unknown prompt', { prompt: 'sing' }],
    ['invalid_request', 'a negative max_age', { max_age: '-1' }],
    ['invalid_request', 'a max_age that is no number', { max_age: 'abc' }],
  ])('is refused as %s: %s', async (error, _name, parameters) => {
    const { page, request } = await open(parameters);
    expect(answerOf(page)).toEqual({
      error,
      error_description: expect.stringMatching(/\w/),
      state: request.state,
      iss: world.origin,
    });
  });

  it('has its acr values in the metadata', () => {
    expect(app.server.acr_values_supported).toEqual(['urn:password', 'urn:passkey']);
  });
});
