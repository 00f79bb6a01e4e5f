import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { authorizationRequest, redeem, registerApp } from '../support/app.ts';
import { type Browser, createBrowser } from '../support/browser.ts';
import { offeredScopes } from '../support/member.ts';
import { startWorld, type World } from '../support/world.ts';
import { IDP_SECRET, type RealIdp, startRealIdp } from './support/real-idp.ts';

/** Milliseconds by which the gate's clock is ahead. */
let ahead = 0;
let idp: RealIdp;
let world: World;

beforeAll(async () => {
  idp = await startRealIdp();
  world = await startWorld({
    profile: 'A',
    clock: () => Date.now() + ahead,
    environment: { IDP_SECRET },
    overrides: {
      login: {
        kind: 'oidc',
        providers: [
          {
            id: 'school',
            name: 'School account',
            issuer: idp.issuer,
            clientId: 'gate',
            clientSecret: { env: 'IDP_SECRET' },
          },
        ],
      },
    },
  });
  idp.welcome(`${world.origin}/oauth/sign-in/callback/school`);
});
afterAll(async () => {
  await world.close();
  await idp.close();
});
beforeEach(() => {
  idp.member = 'sam';
  idp.signIns = 0;
  idp.age = 0;
  ahead = 0;
});

const authorize = async (parameters: Record<string, string> = {}) => {
  const app = await registerApp(world.origin);
  return { app, request: await authorizationRequest(app, parameters) };
};

const visit = async (browser: Browser, parameters: Record<string, string> = {}) => {
  const { app, request } = await authorize(parameters);
  return { app, request, page: await browser.open(request.url) };
};

describe('an OpenID provider', () => {
  it('signs a member in, and an app gets what they approve', async () => {
    const browser = createBrowser();
    const { app, request, page } = await visit(browser);
    expect(page.text).toContain('id="consent"');
    // The email came from the userinfo endpoint: this provider does not put it into the ID token.
    expect(page.text).toContain('sam@school.test');
    const last = await browser.submit(
      page,
      { decision: 'approve', scope: offeredScopes(page) },
      (location) => !location.startsWith(app.redirectUri),
    );
    const tokens = await redeem(app, request, new URL(last.location ?? ''));
    const who = await fetch(`${world.origin}/api/oauth/userinfo`, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    });
    expect(await who.json()).toMatchObject({
      sub: 'school:sam',
      email: 'sam@school.test',
      email_verified: true,
      name: 'Name of sam',
    });
  });

  it('receives state, nonce and an S256 challenge, and the app’s parameters for the sign-in', async () => {
    await visit(createBrowser(), {
      login_hint: 'sam@school.test',
      ui_locales: 'es en',
      prompt: 'login',
      max_age: '60',
    });
    const asked = Object.fromEntries(idp.asked);
    expect(asked).toMatchObject({
      response_type: 'code',
      response_mode: 'query',
      client_id: 'gate',
      redirect_uri: `${world.origin}/oauth/sign-in/callback/school`,
      scope: 'openid email profile',
      code_challenge_method: 'S256',
      login_hint: 'sam@school.test',
      ui_locales: 'es en',
      prompt: 'login',
      max_age: '60',
    });
    for (const name of ['state', 'nonce', 'code_challenge']) expect(asked[name]).toMatch(/^[\w-]{43}$/);
    expect(idp.asked.has('acr_values')).toBe(false);
  });

  it('is not asked again while the sign-in is valid, and is asked again after it has expired', async () => {
    const browser = createBrowser();
    await visit(browser);
    idp.asked = new URLSearchParams();
    expect((await visit(browser)).page.text).toContain('id="consent"');
    expect(idp.asked.size).toBe(0);
    ahead += 31 * 60_000;
    expect((await visit(browser)).page.text).toContain('id="consent"');
    expect(idp.asked.size).toBeGreaterThan(0);
    // The session at the provider continued: the member entered nothing, but the gate still asked for consent.
    expect(idp.signIns).toBe(1);
  });

  it('must return a recent sign-in for prompt=login', async () => {
    const browser = createBrowser();
    idp.age = 100;
    await visit(browser);
    // The prompt is removed from the URL on the way. The provider then returns the current session, with the time it
    // began.
    const { request } = await authorize({ prompt: 'login' });
    const stopped = await browser.open(request.url, (url) => !url.includes('/oauth/sign-in?'));
    const tampered = new URL(stopped.location ?? '');
    expect(tampered.searchParams.get('prompt')).toBe('login');
    tampered.searchParams.delete('prompt');
    expect((await browser.open(tampered.href)).text).toContain('id="login"');
    expect(idp.signIns).toBe(1);
    idp.age = 0;
    expect((await visit(browser, { prompt: 'login' })).page.text).toContain('id="consent"');
    expect(idp.signIns).toBe(2);
  });

  it('lets a member choose another account', async () => {
    const browser = createBrowser();
    const { page } = await visit(browser, { login_hint: 'sam@school.test' });
    idp.member = 'olu';
    const stopped = await browser.open(`${page.url}/switch`, (url) => url.startsWith(world.origin));
    const asked = new URL(stopped.location ?? '').searchParams;
    expect(asked.get('prompt')).toBe('select_account');
    expect(asked.has('login_hint')).toBe(false);
  });

  it('leaves no one signed in when the member cancels', async () => {
    idp.member = undefined;
    const browser = createBrowser();
    const { page } = await visit(browser);
    expect(page.status).toBe(200);
    expect(page.text).toContain('id="login"');
    expect(browser.cookies.has('coursegate_member')).toBe(false);
  });
});
