import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeLook, complaintsOf, LANGUAGES, type Look } from '../../support/album.ts';
import { type App, authorizationRequest, registerApp } from '../../support/app.ts';
import { browserPresent, launchChromium } from '../../support/chromium.ts';
import { tabTo } from '../../support/keyboard.ts';
import type { World } from '../../support/world.ts';
import { appsPages } from './support/apps-pages.ts';
import { gatePages } from './support/gate-pages.ts';
import { openStand, type Stand } from './support/stand.ts';

const LONGEST = { timeout: 1_800_000 };

describe.skipIf(!browserPresent())('in Chromium', () => {
  let browser: Browser;
  let world: World;
  let close: Stand['close'];
  beforeAll(async () => {
    browser = await launchChromium();
    ({ world, close } = await openStand());
  });
  afterAll(async () => {
    await browser.close();
    await close();
  });

  /** Opens a browser whose member is signed in at the school behind the gate at `origin`. */
  const visit = async <Result>(
    options: Parameters<Browser['newContext']>[0],
    story: (page: Page, context: BrowserContext) => Promise<Result>,
    origin = world.origin,
  ): Promise<Result> => {
    const context = await browser.newContext(options);
    context.setDefaultTimeout(20_000);
    await context.addCookies([{ name: 'school_session', value: 'held', url: origin }]);
    try {
      return await story(await context.newPage(), context);
    } finally {
      await context.close();
    }
  };

  describe.concurrent('in every language', () => {
    const stands: Stand[] = [];
    afterAll(() => Promise.all(stands.map((one) => one.close())));

    const lookAt = async (name: string, show: (page: Page, stand: Stand, look: Look) => Promise<void>) => {
      const stand = await openStand();
      stands.push(stand);
      const { look, findings, count } = closeLook(name, LANGUAGES);
      const story = async (page: Page, context: BrowserContext) => {
        const complaints = complaintsOf(context);
        await show(page, stand, look);
        expect(complaints).toEqual([]);
      };
      await visit({}, story, stand.world.origin);
      expect(findings).toEqual([]);
      return count;
    };

    it('every page is readable on every screen, in light and dark mode, and by keyboard', LONGEST, async () => {
      const count = await lookAt('pages', (page, { host, member, world: { origin, admin } }, look) =>
        gatePages(page, { origin, admin, host, member }, look),
      );
      expect(count.rules).toBeGreaterThan(10 * count.screens);
    });

    it('connected apps are readable on every screen, and work by keyboard', LONGEST, async () => {
      const cookie = { name: 'school_session', value: 'held' };
      const count = await lookAt('apps', (page, { host, world: { origin } }, look) =>
        appsPages(page, { origin, host, cookie }, look),
      );
      expect(count.pages).toBe(6);
    });
  });

  it('a member chooses what an app can do, and approves it, with the keyboard alone', async () => {
    const scope = 'openid profile courses:read courses:write';
    const { url } = await authorizationRequest(await registerApp(world.origin), { scope });
    await visit({}, async (page) => {
      await page.goto(url);
      await tabTo(page, '[value="courses:read"]');
      await page.keyboard.press('Space');
      await tabTo(page, '[value="courses:write"]');
      await page.keyboard.press('Space');
      const sent = page.waitForRequest((request) => request.method() === 'POST');
      await tabTo(page, 'button[value=approve]');
      await page.keyboard.press('Enter');
      const form = new URLSearchParams((await sent).postData() ?? '');
      expect([form.get('decision'), ...form.getAll('scope')]).toEqual(['approve', 'profile', 'courses:write']);
    });
  });

  describe('hostile text', () => {
    const MARKUP = '<img src=x onerror=alert(1)><script>alert(1)</script>';

    it.each<[string, string, string, Record<string, string>]>([
      ['the name of an app', 'consent', MARKUP, {}],
      ['a name that some template might fill in', 'consent', '{{7*7}} <%= 7*7 %> #{7*7} {app}', {}],
      ['ui_locales', 'consent', 'App', { ui_locales: `es"><script>alert(1)</script>` }],
      [
        'login_hint, display and claims_locales',
        'consent',
        'App',
        { login_hint: MARKUP, display: 'page', claims_locales: MARKUP },
      ],
      ['a scope', 'error', 'App', { scope: '<script>alert(1)</script>' }],
      ['a redirect URI', 'error', 'App', { redirect_uri: 'javascript:alert(1)' }],
    ])('in %s is shown as text and never run', async (_name, id, client_name, parameters) => {
      const app = await registerApp(world.origin, { metadata: { client_name } });
      await visit({}, async (page, context) => {
        const dialogs: string[] = [];
        const complaints = complaintsOf(context);
        page.on('dialog', (dialog) => {
          dialogs.push(dialog.message());
          void dialog.dismiss();
        });
        await page.goto((await authorizationRequest(app, parameters)).url);
        await page.locator(`main#${id}`).waitFor();
        if (id === 'consent') expect(await page.locator('h1').innerText()).toContain(client_name);
        expect(await page.locator('script, main img, iframe, object, embed').count()).toBe(0);
        expect(await page.evaluate(HANDLERS)).toEqual([]);
        // Up to the school's sign-in page, which receives the login_hint.
        await context.clearCookies({ name: 'school_session' });
        await page.goto((await authorizationRequest(app, parameters)).url);
        expect(dialogs).toEqual([]);
        expect(complaints).toEqual([]);
      });
    });
  });

  describe('the redirect after consent', () => {
    let client: Server;
    const received: string[] = [];
    beforeAll(async () => {
      client = createServer((request, response) => {
        received.push(request.url ?? '');
        response.end('back');
      });
      await new Promise<void>((resolve) => client.listen(0, '127.0.0.1', resolve));
    });
    afterAll(() => void client.close());

    /** Approves, and returns where the browser went next: the requests it started and the errors it reported. */
    const approveIn = async (app: App, parameters: Record<string, string>) =>
      visit({}, async (page, context) => {
        const complaints: string[] = [];
        const wanted: string[] = [];
        page.on('console', (message) => complaints.push(message.text()));
        const session = await context.newCDPSession(page);
        await session.send('Network.enable');
        session.on('Network.requestWillBeSent', ({ request }) => wanted.push(request.url));
        await page.goto((await authorizationRequest(app, parameters)).url);
        const answered = page.waitForResponse(
          (response) => response.status() === 303 && response.url().includes('/oauth/authorize/'),
        );
        await page.getByRole('button', { name: 'Approve', exact: true }).click();
        const location = (await (await answered).allHeaders()).location ?? '';
        await page.waitForTimeout(300);
        return {
          location,
          wanted,
          complaints: complaints.filter((text) => /Content Security Policy|form-action/.test(text)),
        };
      });

    it('reaches a loopback address', async () => {
      const redirectUri = `http://127.0.0.1:${(client.address() as AddressInfo).port}/cb`;
      const { complaints } = await approveIn(await registerApp(world.origin, { redirectUri }), {});
      expect(received.filter((url) => url.startsWith('/cb?code='))).toHaveLength(1);
      expect(complaints).toEqual([]);
    });

    it.each(['https://app.example/cb', 'com.example.app:/cb'])('reaches %s', async (redirectUri) => {
      const { location, wanted, complaints } = await approveIn(await registerApp(world.origin, { redirectUri }), {});
      expect(location).toMatch(new RegExp(`^${redirectUri}\\?code=`));
      expect(wanted).toContain(location);
      expect(complaints).toEqual([]);
    });
  });

  it('no other site can frame a page of the gate', async () => {
    const app = await registerApp(world.origin);
    const { url } = await authorizationRequest(app);
    const evil = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      const ours = `${world.origin}/oauth/interaction/x`;
      response.end(
        [ours, url.replaceAll('&', '&amp;')]
          .map((src) => `<iframe src="${src}"></iframe><object data="${src}"></object><embed src="${src}">`)
          .join(''),
      );
    });
    await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve));
    try {
      await visit({}, async (page) => {
        await page.goto(`http://127.0.0.1:${(evil.address() as AddressInfo).port}/`);
        await page.waitForTimeout(500);
        expect(page.frames().length).toBeGreaterThan(2);
        for (const frame of page.frames().slice(1)) expect(await frame.locator('main').count()).toBe(0);
      });
    } finally {
      evil.close();
    }
  });

  it('an SVG logo that is opened directly runs no script', async () => {
    await visit({}, async (page) => {
      const answer = await page.goto(`${world.origin}/oauth/assets/logo`);
      expect(answer?.headers()['content-security-policy']).toContain('sandbox');
      expect(await page.evaluate('self.origin')).toBe('null');
    });
  });
});

/** Attributes that could run code or apply styles. */
const HANDLERS = `[...document.querySelectorAll('*')].flatMap((element) => element.getAttributeNames())
  .filter((name) => name.startsWith('on') || name === 'style')`;
