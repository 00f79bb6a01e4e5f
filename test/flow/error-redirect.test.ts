import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, authorizationRequest, postForm, registerApp, revoke } from '../support/app.ts';
import { type Browser, createBrowser } from '../support/browser.ts';
import { connect } from '../support/connection.ts';
import { OLU, reachConsent, SAM, signIn } from '../support/member.ts';
import { startWorld, type World } from '../support/world.ts';

type Parameters = Record<string, string | undefined>;

const WRONG: readonly [string, Parameters, string][] = [
  ['a scope with a quote', { scope: 'bad"' }, 'invalid_scope'],
  ['an unknown scope', { scope: 'courses:delete' }, 'invalid_scope'],
  ['the implicit flow', { response_type: 'token' }, 'unsupported_response_type'],
  ['prompt=none', { prompt: 'none' }, 'login_required'],
  ['a foreign resource', { resource: 'https://evil.test' }, 'invalid_target'],
  ['no PKCE', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
];

/** RFC 9700 section 4.11.2: the ability to register an app must not turn the gate into an open redirector. */
describe('an invalid authorization request', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A' });
  });
  afterAll(() => world.close());

  /** Opens a broken authorization request, by default in a browser that is not signed in. */
  const ask = async (app: App, parameters: Parameters, browser = createBrowser()) => {
    const { url } = await authorizationRequest(app, parameters);
    const page = await browser.open(url, () => false);
    return new Response(page.text, { status: page.status, headers: page.headers });
  };
  const browserOf = async (member: typeof SAM | typeof OLU) => {
    const browser = createBrowser();
    await signIn(browser, world.origin, member);
    return browser;
  };
  /** How many requests the school has answered so far. */
  const upstreamRequests = async () => {
    const metrics = await (await fetch(`${world.admin}/metrics`)).text();
    const counts = metrics.matchAll(/^coursegate_upstream_response_seconds_count(?:\{[^}]*\})? (\d+)$/gm);
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
  };
  const expectPage = async (answer: Response, error: string) => {
    expect(answer.status).toBe(400);
    expect(answer.headers.get('location')).toBeNull();
    const text = await answer.text();
    expect(text).toContain('<main id="error">');
    expect(text).toContain(`<code lang="en" dir="ltr">${error}`);
    // The app and its redirect host are shown as text, never as a link.
    expect(text).toContain('<bdi>Test App</bdi>');
    expect(text).not.toMatch(/(?:href|src|action|url)="?[^">]*app\.example/);
  };
  const expectRedirect = (answer: Response, redirectUri: string, error: string) => {
    expect(answer.status).toBe(303);
    const location = answer.headers.get('location') ?? '';
    expect(location.startsWith(redirectUri)).toBe(true);
    const { search, hash } = new URL(location);
    expect(new URLSearchParams(hash === '' ? search : hash.slice(1)).get('error')).toBe(error);
  };

  it.each(WRONG)(
    'with %s, of an app that no member has approved, is not redirected',
    async (_name, parameters, error) => {
      for (const redirectUri of ['https://app.example/callback', 'com.example.app:/callback']) {
        await expectPage(await ask(await registerApp(world.origin, { redirectUri }), parameters), error);
      }
    },
  );

  it.each(WRONG)('with %s, of an app on loopback, is redirected there', async (_name, parameters, error) => {
    for (const redirectUri of ['http://127.0.0.1:5123/callback', 'http://localhost:5123/cb', 'http://[::1]:5123/cb']) {
      expectRedirect(await ask(await registerApp(world.origin, { redirectUri }), parameters), redirectUri, error);
    }
  });

  it.each(['query', 'fragment', 'form_post'])(
    'in the mode %s, of an app that no member has approved, is not redirected either',
    async (response_mode) => {
      const app = await registerApp(world.origin);
      const answer = await ask(app, { response_mode, scope: 'courses:delete' });
      expect(await answer.clone().text()).toContain('<bdi>Test App</bdi>, app.example\n');
      await expectPage(answer, 'invalid_scope');
    },
  );

  it('is redirected to an app in the browser of a member who approved it, until the grant is revoked', async () => {
    const app = await registerApp(world.origin);
    const wrong = { scope: 'courses:delete' };
    const browser = createBrowser();
    await signIn(browser, world.origin, SAM);
    await expectPage(await ask(app, wrong, browser), 'invalid_scope');
    const tokens = await connect(app, { browser });
    expectRedirect(await ask(app, wrong, browser), app.redirectUri, 'invalid_scope');
    await expectPage(await ask(await registerApp(world.origin), wrong, browser), 'invalid_scope');
    await revoke(app, String(tokens.refresh_token));
    await expectPage(await ask(app, wrong, browser), 'invalid_scope');
  });

  it.each(WRONG)(
    'with %s, of an app that its own author approved, is not redirected in any other browser',
    async (_name, parameters, error) => {
      for (const redirectUri of ['https://app.example/callback', 'com.example.app:/callback']) {
        const app = await registerApp(world.origin, { redirectUri });
        const author = createBrowser();
        await connect(app, { member: OLU, browser: author });
        expectRedirect(await ask(app, parameters, author), redirectUri, error);
        await expectPage(await ask(app, parameters), error);
        await expectPage(await ask(app, parameters, await browserOf(SAM)), error);
        // The gate cookies that the author got earlier prove nothing: only the school says who is signed in.
        author.cookies.delete('school_session');
        await expectPage(await ask(app, parameters, author), error);
      }
    },
  );

  it.each(['query', 'fragment', 'form_post'])(
    'in the mode %s is answered to the app only for the member who approved it',
    async (response_mode) => {
      const app = await registerApp(world.origin, { confidential: response_mode === 'form_post' });
      const browser = createBrowser();
      await connect(app, { browser });
      const wrong = { response_mode, prompt: 'none' };
      const answer = await ask(app, wrong, browser);
      if (response_mode === 'form_post') {
        expect(await answer.text()).toMatch(
          /<form method="post" action="https:\/\/app\.example\/callback">[\s\S]*login_required/,
        );
      } else expectRedirect(answer, app.redirectUri, 'login_required');
      for (const other of [createBrowser(), await browserOf(OLU)]) {
        const page = await ask(app, wrong, other);
        expect(await page.clone().text()).not.toContain('https://app.example/callback');
        await expectPage(page, 'login_required');
      }
    },
  );

  it('is not redirected while the school cannot say who is signed in', async () => {
    const app = await registerApp(world.origin);
    const browser = createBrowser();
    await connect(app, { browser });
    const fine = world.school.urls.school;
    await world.restart({ upstreams: { school: { url: 'http://127.0.0.1:9' } } });
    await expectPage(await ask(app, { prompt: 'none' }, browser), 'login_required');
    await world.restart({ upstreams: { school: { url: fine } } });
    expectRedirect(await ask(app, { prompt: 'none' }, browser), app.redirectUri, 'login_required');
  });

  it('causes no request to the school unless a member has approved the app', async () => {
    const asked = async (app: App, browser: Browser) => {
      const before = await upstreamRequests();
      await ask(app, { prompt: 'none' }, browser);
      return (await upstreamRequests()) - before;
    };
    const [app, browser] = [await registerApp(world.origin), await browserOf(SAM)];
    expect(await asked(app, browser)).toBe(0);
    await connect(app, { browser });
    expect(await asked(app, browser)).toBe(1);
  });

  it('is not the same as a denial, which is redirected to the app, approved or not', async () => {
    const app = await registerApp(world.origin);
    const { browser, page } = await reachConsent((await authorizationRequest(app)).url);
    const after = await browser.submit(page, { decision: 'deny' }, (to) => !to.startsWith(app.redirectUri));
    expect(after.location).toMatch(/^https:\/\/app\.example\/callback\?error=access_denied&/);
  });

  it('that was pushed is not redirected without an approval either', async () => {
    const app = await registerApp(world.origin);
    const { url } = await authorizationRequest(app, { prompt: 'none' });
    const pushed = await postForm(
      app.server.pushed_authorization_request_endpoint,
      Object.fromEntries(new URL(url).searchParams),
    );
    expect(pushed.status).toBe(201);
    const { request_uri } = (await pushed.json()) as { request_uri: string };
    const by = new URLSearchParams({ client_id: app.client.client_id, request_uri });
    const answer = await fetch(`${world.origin}/oauth/authorize?${by}`, { redirect: 'manual' });
    expect({ status: answer.status, location: answer.headers.get('location') }).toEqual({
      status: 400,
      location: null,
    });
  });

  it('that was pushed is redirected only for the member who approved the app', async () => {
    const app = await registerApp(world.origin);
    const browser = createBrowser();
    await connect(app, { browser });
    const pushed = async () => {
      const { url } = await authorizationRequest(app, { prompt: 'none' });
      const form = Object.fromEntries(new URL(url).searchParams);
      const answer = await postForm(app.server.pushed_authorization_request_endpoint, form);
      const { request_uri } = (await answer.json()) as { request_uri: string };
      return `${world.origin}/oauth/authorize?${new URLSearchParams({ client_id: app.client.client_id, request_uri })}`;
    };
    const own = await browser.open(await pushed(), () => false);
    expect(own.location).toMatch(/^https:\/\/app\.example\/callback\?error=login_required&/);
    const other = await createBrowser().open(await pushed(), () => false);
    expect({ status: other.status, location: other.location }).toEqual({ status: 400, location: undefined });
  });
});
