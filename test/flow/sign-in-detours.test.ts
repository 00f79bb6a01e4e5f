import type { Browser as Chromium, Page as Tab } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type App,
  type AuthorizationRequest,
  authorizationRequest,
  introspect,
  redeem,
  registerApp,
} from '../support/app.ts';
import { createBrowser, type Page } from '../support/browser.ts';
import { browserPresent, launchChromium } from '../support/chromium.ts';
import { startDetourSchool } from '../support/detour-school.ts';
import { offeredScopes } from '../support/member.ts';
import type { RecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';

const MINUTE = 60_000;

describe('a sign-in that takes detours', () => {
  let school: RecordingUpstream;
  let world: World;
  let app: App;
  let other: App;
  beforeAll(async () => {
    school = await startDetourSchool();
    world = await startWorld({
      profile: 'A',
      clock: () => Date.now(),
      overrides: {
        upstreams: { school: { url: school.url } },
        login: { returnParam: 'next' },
      },
    });
    app = await registerApp(world.origin);
    other = await registerApp(world.origin, { redirectUri: 'https://other.example/back?of=other' });
  });
  afterAll(() => Promise.all([world.close(), school.close()]));
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const pass = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds);

  const WISH = { scope: 'openid courses:read orders:read', ui_locales: 'es-MX es', state: 's t/&=+ü' };
  const elsewhere = (of: App) => (location: string) => !location.startsWith(of.redirectUri);
  /** The link on a page with this text. */
  const link = (page: Page, text: string) => {
    const [, href = ''] = new RegExp(`href="([^"]*)"[^>]*>${text}`).exec(page.text) ?? [];
    return new URL(href, page.url).href;
  };
  const at = (page: Page, id: string) => expect(page.text).toContain(`<main id="${id}">`);

  /**
   * Asserts that the redirect answers that request, and that the tokens have the approved scope and the requested
   * resource.
   */
  const expectAnswer = async (of: App, request: AuthorizationRequest, returned: URL, scope: string) => {
    expect(`${returned.origin}${returned.pathname}`).toBe(of.redirectUri.split('?')[0]);
    expect(returned.searchParams.get('state')).toBe(request.state);
    expect(returned.searchParams.get('iss')).toBe(world.origin);
    // Fails unless the verifier matches the challenge.
    const tokens = await redeem(of, request, returned);
    expect(tokens.scope).toBe(scope);
    expect(await introspect(of, tokens.access_token)).toMatchObject({ active: true, aud: of.resource });
  };
  const ask = async (of: App, wish: Record<string, string>) => {
    const request = await authorizationRequest(of, wish);
    return wish.state === undefined ? request : { ...request, state: wish.state };
  };

  it('with a registration and a wrong password, over nine minutes, returns to the complete request', async () => {
    const request = await ask(app, WISH);
    const browser = createBrowser();
    const login = await browser.open(request.url);
    at(login, 'detour-login');
    pass(3 * MINUTE);
    const register = await browser.open(link(login, 'New here'));
    pass(3 * MINUTE);
    const thanks = await browser.submit(register, { name: 'nia', password: 'right' });
    const again = await browser.open(link(thanks, 'Go on'));
    pass(3 * MINUTE);
    const wrong = await browser.submit(again, { name: 'nia', password: 'wrong' });
    at(wrong, 'detour-login');
    const page = await browser.submit(wrong, { name: 'nia', password: 'right' });
    at(page, 'consent');
    expect(page.text).toContain('<html lang="es"');
    expect(page.text).toContain('nia@school.example');
    expect(offeredScopes(page)).toEqual(['courses:read', 'orders:read']);
    const last = await browser.submit(page, { decision: 'approve', scope: offeredScopes(page) }, elsewhere(app));
    await expectAnswer(app, request, new URL(last.location ?? ''), WISH.scope);
  });

  it('with a second app in a second tab gives each app the answer to its own request', async () => {
    const browser = createBrowser();
    const first = await ask(app, WISH);
    const second = await ask(other, { scope: 'openid account:read' });
    const firstLogin = await browser.open(first.url);
    const secondLogin = await browser.open(second.url);
    const register = await browser.open(link(secondLogin, 'New here'));
    const thanks = await browser.submit(register, { name: 'tom', password: 'right' });
    const secondPage = await browser.submit(await browser.open(link(thanks, 'Go on')), {
      name: 'tom',
      password: 'right',
    });
    const firstPage = await browser.submit(firstLogin, { name: 'tom', password: 'right' });
    expect(offeredScopes(firstPage)).toEqual(['courses:read', 'orders:read']);
    expect(offeredScopes(secondPage)).toEqual(['account:read']);
    const approve = (page: Page, of: App) =>
      browser.submit(page, { decision: 'approve', scope: offeredScopes(page) }, elsewhere(of));
    const secondLast = await approve(secondPage, other);
    const firstLast = await approve(firstPage, app);
    await expectAnswer(other, second, new URL(secondLast.location ?? ''), 'openid account:read');
    await expectAnswer(app, first, new URL(firstLast.location ?? ''), WISH.scope);
  });

  it('that takes longer than the request lives ends at a page that says to go back to the app', async () => {
    const browser = createBrowser();
    const login = await browser.open((await ask(app, WISH)).url);
    const register = await browser.open(link(login, 'New here'));
    const thanks = await browser.submit(register, { name: 'late', password: 'right' });
    pass(16 * MINUTE);
    const page = await browser.submit(await browser.open(link(thanks, 'Go on')), { name: 'late', password: 'right' });
    expect(page.status).toBe(400);
    at(page, 'error');
    expect(page.text).toContain('Go back to the app and start again.');
    // They are signed in now, so starting again takes one step.
    at(await browser.open((await ask(app, WISH)).url), 'consent');
  });

  it.each(['return_to', 'returnTo', 'next', 'redirect', 'url'])('ignores the redirect in %s', async (name) => {
    const browser = createBrowser();
    const login = await browser.open((await ask(app, WISH)).url);
    const back = world.origin + new URL(login.url).searchParams.get('next');
    for (const to of [
      '//evil.test',
      '/\\evil.test',
      'https:evil.test',
      '\t//evil.test',
      'https://evil.test/',
      '%09//evil.test',
    ]) {
      const page = await browser.open(`${back}?${new URLSearchParams({ [name]: to })}`);
      expect(new URL(page.url).origin).toBe(world.origin);
      at(page, 'login');
      expect(page.text).not.toContain('evil');
    }
  });

  describe.skipIf(!browserPresent())('in Chromium', () => {
    const fill = async (tab: Tab, name: string, password: string, button: string) => {
      await tab.getByLabel('Name').fill(name);
      await tab.getByLabel('Password').fill(password);
      await tab.getByRole('button', { name: button }).click();
    };
    /** The URL that the browser is redirected to; nothing is served there. */
    const answer = async (tab: Tab, of: App) => {
      const sent = tab.waitForRequest((asked) => asked.url().startsWith(of.redirectUri), { timeout: 60_000 });
      await tab.locator('main#consent button[value="approve"]').click();
      return new URL((await sent).url());
    };

    it('with a registration, a wrong password and a second tab returns to the same request', {
      timeout: 240_000,
    }, async () => {
      const chromium: Chromium = await launchChromium();
      const context = await chromium.newContext();
      context.setDefaultTimeout(60_000);
      await context.route(/^https:\/\/(app|other)\.example\//, (route) => route.fulfill({ body: 'the app' }));
      try {
        const [first, second] = [await ask(app, WISH), await ask(other, { scope: 'openid account:read' })];
        const [tab, secondTab] = [await context.newPage(), await context.newPage()];
        await tab.goto(first.url);
        await tab.getByRole('link', { name: 'New here' }).click();
        await fill(tab, 'kim', 'right', 'Register');
        await secondTab.goto(second.url);
        await tab.getByRole('link', { name: 'Go on' }).click();
        await fill(tab, 'kim', 'wrong', 'Sign in');
        await tab.getByRole('alert').waitFor();
        pass(9 * MINUTE);
        await fill(secondTab, 'kim', 'right', 'Sign in');
        await secondTab.locator('main#consent').waitFor();
        await fill(tab, 'kim', 'right', 'Sign in');
        await tab.locator('main#consent').waitFor();
        expect(await tab.locator('html').getAttribute('lang')).toBe('es');
        await expectAnswer(other, second, await answer(secondTab, other), 'openid account:read');
        await expectAnswer(app, first, await answer(tab, app), WISH.scope);
      } finally {
        await chromium.close();
      }
    });
  });
});
