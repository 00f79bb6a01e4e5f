import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, authorizationRequest, registerApp } from '../support/app.ts';
import { createBrowser } from '../support/browser.ts';
import { OLU, reachConsent, SAM, signIn } from '../support/member.ts';
import { startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';

describe('signing in for an app', () => {
  let world: World;
  let app: App;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A' });
    app = await registerApp(world.origin);
  });
  afterAll(() => world.close());

  it('happens on the school’s own page, which leads back to the same request', async () => {
    const request = await authorizationRequest(app);
    const browser = createBrowser();
    const school = await browser.open(request.url);
    expect(new URL(school.url).pathname).toBe('/login');
    const returnTo = new URL(school.url).searchParams.get('return_to');
    expect(returnTo).toMatch(/^\/oauth\/interaction\/[\w-]+\/return$/);
    const consent = await browser.submit(school, { login: SAM.login, password: SAM.password });
    expect(consent.text).toContain('<main id="consent">');
  });

  it('is not asked of a member who is signed in already', async () => {
    const browser = createBrowser();
    await signIn(browser, world.origin, OLU);
    const page = await browser.open((await authorizationRequest(app)).url);
    expect(page.text).toContain('<main id="consent">');
    expect(page.text).toContain(OLU.login);
  });

  it('that is not completed shows a page to sign in or to cancel, and no loop', async () => {
    const request = await authorizationRequest(app);
    const browser = createBrowser();
    const school = await browser.open(request.url);
    const back = await browser.open(world.origin + new URL(school.url).searchParams.get('return_to'));
    expect(back.status).toBe(200);
    expect(back.text).toContain('<main id="login">');
    expect(back.text).toContain('/login?return_to=%2Foauth%2Finteraction%2F');
    expect(back.headers.get('content-security-policy')).toContain("default-src 'none'");

    const out = await browser.submit(back, { decision: 'deny' }, (url) => !url.startsWith(app.redirectUri));
    const returned = new URL(out.location ?? '');
    expect(returned.searchParams.get('error')).toBe('access_denied');
    expect(returned.searchParams.get('state')).toBe(request.state);
    expect(returned.searchParams.get('iss')).toBe(world.origin);
  });

  it('is needed with a cookie that the school does not know', async () => {
    const browser = createBrowser();
    browser.cookies.set('school_session', { value: 'forged', path: '/' });
    const page = await browser.open((await authorizationRequest(app)).url);
    expect(page.text).toContain('id="school-login"');
  });

  it('as another member starts on the school’s page again', async () => {
    const { browser, page } = await reachConsent((await authorizationRequest(app)).url);
    const other = /href="([^"]*\/switch)"/.exec(page.text)?.[1] ?? '';
    const school = await browser.open(world.origin + other);
    expect(school.text).toContain('id="school-login"');
  });

  it.each([
    '/oauth/interaction/nothing',
    '/oauth/interaction/nothing/return',
    '/oauth/interaction/nothing/switch',
    '/oauth/authorize/nothing',
  ])('at %s, which does not exist, shows an error page', async (path) => {
    const answer = await fetch(world.origin + path, { redirect: 'manual' });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('<main id="error">');
  });
});

describe('a member who must sign in again', () => {
  it.each<[string, Record<string, string>, string, string]>([
    ['because the app said prompt=login', { prompt: 'login' }, 'Sign in to <bdi>', 'wants you to sign in again'],
    ['because of max_age', { max_age: '60' }, 'Sign in to <bdi>', 'wants you to sign in again'],
    ['in Spanish', { max_age: '60', ui_locales: 'es' }, 'Inicia sesión de nuevo en', 'pide que lo hagas de nuevo'],
  ])('%s is told so, instead of "not signed in"', async (_name, parameters, heading, text) => {
    const upstream = await startRecordingUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ id: 'm-1', email: 'ann@school.example', since: 1_700_000_000 }));
    });
    const world = await startWorld({
      profile: 'A',
      overrides: { upstreams: { school: { url: upstream.url } }, login: { whoami: { authTime: '/since' } } },
    });
    try {
      const app = await registerApp(world.origin);
      const browser = createBrowser();
      browser.cookies.set('school_session', { value: 'mine', path: '/' });
      const request = await authorizationRequest(app, parameters);
      const first = await browser.open(request.url, (url) => !url.includes('/login'));
      const back = new URL(first.location ?? '').searchParams.get('return_to');
      const page = await browser.open(world.origin + back);
      expect(page.status).toBe(200);
      expect(page.text).toContain('<main id="login">');
      expect(page.text).toContain(heading);
      expect(page.text).toContain(text);
      expect(page.text).toContain('<strong><bdi>ann@school.example</bdi></strong>');
      expect(page.text).not.toMatch(/not signed in|Aún no/);
    } finally {
      await Promise.all([world.close(), upstream.close()]);
    }
  });
});

describe('a sign-in at a school that cannot say who is signed in', () => {
  it.each<[string, number, string]>([
    ['is failing', 500, 'oops'],
    ['responds with an HTML page', 200, '<html>'],
    ['responds without a member', 200, '{}'],
    ['is overloaded', 429, ''],
  ])('because it %s fails with 503, instead of "not signed in"', async (_name, status, body) => {
    const upstream = await startRecordingUpstream((_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(body);
    });
    const world = await startWorld({ profile: 'A', overrides: { upstreams: { school: { url: upstream.url } } } });
    try {
      await expectUnavailable(world);
      expect(upstream.last().values('cookie')).toEqual(['school_session=mine']);
    } finally {
      await Promise.all([world.close(), upstream.close()]);
    }
  });

  it('because it is down fails with 503', async () => {
    const upstream = await startRecordingUpstream();
    await upstream.close();
    const world = await startWorld({ profile: 'A', overrides: { upstreams: { school: { url: upstream.url } } } });
    try {
      await expectUnavailable(world);
    } finally {
      await world.close();
    }
  });

  const expectUnavailable = async (world: World) => {
    const app = await registerApp(world.origin);
    const browser = createBrowser();
    browser.cookies.set('school_session', { value: 'mine', path: '/' });
    browser.cookies.set('other', { value: 'not-for-whoami', path: '/' });
    const page = await browser.open((await authorizationRequest(app)).url);
    expect(page.status).toBe(503);
    expect(page.headers.get('retry-after')).toBe('5');
    expect(page.text).toContain('<main id="error">');
    expect(page.text).toContain('login_unavailable');
    expect(page.text).not.toMatch(/not signed in|127\.0\.0\.1|ECONNREFUSED|oops/);
  };
});
