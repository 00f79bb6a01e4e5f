import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, type AuthorizationRequest, authorizationRequest, redeem, registerApp } from '../../support/app.ts';
import { SCOPES } from '../../support/catalogue.ts';
import { browserPresent, launchChromium } from '../../support/chromium.ts';
import { startRecordingUpstream } from '../../support/recording-upstream.ts';
import { startWorld, type World } from '../../support/world.ts';
import {
  answerJson,
  type DocumentHost,
  plainDocument,
  startDocumentHost,
} from '../client-documents/support/document-host.ts';

const PHONE = { width: 390, height: 664 };
const SIX = 'openid profile account:read courses:read courses:write account:write';
const SCHOOL = ['courses:read', 'students:read', 'members:read', 'orders:read', 'events:read'];
/** With all links below the buttons that there can be. */
const LINKS = { support: 'mailto:help@school.example', apps: { back: '/my/account' } };
/** As long as names may be. */
const LONG_SCHOOL = 'Escuela Internacional de Navegación, Carpintería y Artes del Mar';
const LONG_APP = 'The Wonderful Assistant for Students of Navigation and the Seas!';

describe.skipIf(!browserPresent())('the consent page on a small phone', () => {
  let browser: Browser;
  let host: DocumentHost;
  let school: Awaited<ReturnType<typeof startRecordingUpstream>>;
  let worlds: Record<'short' | 'long' | 'linked', World>;
  let contexts: Record<'en-GB' | 'es-MX', BrowserContext>;
  beforeAll(async () => {
    host = await startDocumentHost();
    school = await startRecordingUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"id":"m-1","email":"ann@school.example"}');
    });
    const open = (overrides: Record<string, unknown> = {}) =>
      startWorld({
        profile: 'A',
        documentNetwork: host.network,
        overrides: { upstreams: { school: { url: school.url } }, ...overrides },
      });
    [browser, worlds] = await Promise.all([
      launchChromium(),
      Promise.all([open(), open({ name: LONG_SCHOOL }), open({ pages: LINKS })]).then(([short, long, linked]) => ({
        ...{ short, long, linked },
      })),
    ]);
    const context = async (locale: string) => {
      const opened = await browser.newContext({ locale });
      // A cookie belongs to a host, whatever its port: this one is sent to both gates.
      await opened.addCookies([{ name: 'school_session', value: 'held', url: worlds.short.origin }]);
      opened.setDefaultTimeout(10_000);
      return opened;
    };
    contexts = { 'en-GB': await context('en-GB'), 'es-MX': await context('es-MX') };
  });
  afterAll(async () => {
    await browser.close();
    await Promise.all([...Object.values(worlds).map((world) => world.close()), school.close(), host.close()]);
  });

  /** An app whose metadata document is published by claude.ai. */
  const published = async (name: string, redirectUri: string): Promise<App> => {
    const url = `https://claude.ai/oauth/${encodeURIComponent(`${name} ${redirectUri}`)}`;
    host.serve(url, answerJson(plainDocument(url, { client_name: name, redirect_uris: [redirectUri] })));
    return { ...(await registerApp(worlds.short.origin)), client: { client_id: url }, redirectUri };
  };

  const visit = async (
    options: {
      readonly app: App;
      readonly scope: string;
      readonly locale?: 'en-GB' | 'es-MX';
      readonly ui_locales?: string;
    },
    story: (page: Page, request: AuthorizationRequest) => Promise<unknown>,
    viewport = PHONE,
  ): Promise<void> => {
    const { app, scope, locale = 'en-GB', ui_locales } = options;
    const page = await contexts[locale].newPage();
    try {
      await page.setViewportSize(viewport);
      const request = await authorizationRequest(app, { scope, ui_locales });
      await page.goto(request.url);
      await page.locator('main#consent').waitFor();
      await story(page, request);
    } finally {
      await page.close();
    }
  };

  /** The boxes of both buttons, and whether they are what a finger at their centre touches. */
  const buttons = (page: Page) =>
    page.evaluate<{ top: number; bottom: number; left: number; right: number; isOnTop: boolean }[]>(`
      [...document.querySelectorAll('button[name=decision]')].map((button) => {
        const { top, bottom, left, right } = button.getBoundingClientRect();
        const touched = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
        return { top, bottom, left, right, isOnTop: touched === button };
      })`);

  describe.each(['en-GB', 'es-MX'] as const)('in %s', (locale) => {
    it.each<[string, () => Promise<App>]>([
      ['an app', () => registerApp(worlds.short.origin)],
      ['a verified app', () => published('Claude', 'https://claude.ai/api/mcp/auth_callback')],
      ['an app that leads elsewhere', () => published('Claude', 'https://claude.ai.evil.example/callback')],
      ['an app with a long name', () => registerApp(worlds.long.origin, { metadata: { client_name: LONG_APP } })],
      [
        'an app that poses as a school with a long name',
        () => registerApp(worlds.long.origin, { metadata: { client_name: LONG_SCHOOL } }),
      ],
      [
        'an app whose name is one word',
        () => registerApp(worlds.long.origin, { metadata: { client_name: 'W'.repeat(64) } }),
      ],
    ])('Cancel and Approve are visible without scrolling for six scopes of %s', async (_what, register) => {
      await visit({ app: await register(), scope: SIX, locale }, async (page) => {
        for (const { top, bottom, left, right, isOnTop } of await buttons(page)) {
          expect(isOnTop).toBe(true);
          expect(top).toBeGreaterThan(0);
          expect(bottom).toBeLessThanOrEqual(PHONE.height);
          expect(left).toBeGreaterThanOrEqual(0);
          expect(right).toBeLessThanOrEqual(PHONE.width);
          expect(bottom - top).toBeGreaterThanOrEqual(44);
        }
        expect(await buttons(page)).toHaveLength(2);
      });
    });
  });

  it('shows what an app can see near the top, and all of it above the buttons', async () => {
    await visit(
      { app: await registerApp(worlds.short.origin), scope: 'openid profile account:read courses:read' },
      async (page) => {
        const scopes = await page.locator('.scope').all();
        const tops = await Promise.all(scopes.map(async (scope) => (await scope.boundingBox())?.y ?? Number.NaN));
        expect(tops[0]).toBeLessThan(400);
        const last = await scopes.at(-1)?.boundingBox();
        const [cancel] = await buttons(page);
        expect((last?.y ?? Number.NaN) + (last?.height ?? Number.NaN)).toBeLessThan(cancel?.top ?? 0);
      },
    );
  });

  it.each([
    [PHONE, 'sticky'],
    [{ width: 320, height: 568 }, 'sticky'],
    [{ width: 664, height: 390 }, 'static'],
    // 390 x 664 at 200 % zoom.
    [{ width: 195, height: 332 }, 'static'],
  ])('never hides what has the focus, on a screen of %o', async (viewport, position) => {
    const app = await registerApp(worlds.short.origin);
    await visit(
      { app, scope: SCOPES.join(' ') },
      async (page) => {
        expect(await page.evaluate(`getComputedStyle(document.querySelector('.actions')).position`)).toBe(position);
        await page.evaluate(`for (const list of document.querySelectorAll('details')) list.open = true`);
        const seen = new Set<string>();
        // 37 boxes, 3 summaries, 2 links and 2 buttons; the browser's own controls come after.
        for (let count = 0; count < 44; count += 1) {
          await page.keyboard.press('Tab');
          const { what, isHidden } = await page.evaluate<{ what: string; isHidden: boolean }>(`(() => {
            const focused = document.activeElement;
            const { top, bottom } = focused.getBoundingClientRect();
            const bar = document.querySelector('.actions');
            const limit = getComputedStyle(bar).position === 'sticky' && !bar.contains(focused)
              ? bar.getBoundingClientRect().top : innerHeight;
            return { what: focused.outerHTML, isHidden: top < -1 || bottom > limit + 1 };
          })()`);
          if (!what.startsWith('<body')) seen.add(what);
          expect({ what, isHidden }).toEqual({ what, isHidden: false });
        }
        expect(seen.size).toBe(44);
      },
      viewport,
    );
  });

  it.each([
    ['six reads', 'openid profile email account:read courses:read events:read posts:read', 1],
    ['eight reads', `openid profile email account:read ${SCHOOL.slice(0, 5).join(' ')}`, 1.5],
    ['all that reading needs', SCOPES.filter((scope) => !scope.endsWith(':write')).join(' '), 1.75],
  ])('is not longer than it needs to be for %s, and always says how to stop', async (_what, scope, screens) => {
    for (const locale of ['en-GB', 'es-MX'] as const) {
      await visit({ app: await registerApp(worlds.short.origin), scope, locale }, async (page) => {
        const height = await page.evaluate<number>('document.documentElement.scrollHeight');
        // Six titles of two lines, and the ways out below the buttons.
        expect(height).toBeLessThanOrEqual(screens * PHONE.height + (screens === 1 ? 200 : 0));
        const link = page.locator('.actions a');
        expect(await link.innerText()).toBe(locale === 'en-GB' ? 'Connected apps' : 'Aplicaciones conectadas');
        const { y = 0, height: tall = 0 } = (await link.boundingBox()) ?? {};
        const [cancel] = await buttons(page);
        expect(y + tall).toBeLessThanOrEqual(cancel?.top ?? 0);
      });
    }
  });

  it.each(['en', 'es', 'de', 'fr', 'ar'])(
    'is at most two screens long for everything, and one on a desktop, in %s',
    async (ui_locales) => {
      const app = await registerApp(worlds.linked.origin);
      await visit({ app, scope: SCOPES.join(' '), ui_locales }, async (page) => {
        expect(await page.locator('html').getAttribute('lang')).toBe(ui_locales);
        expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThanOrEqual(2 * PHONE.height);
        await page.setViewportSize({ width: 1280, height: 800 });
        expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThanOrEqual(800);
      });
    },
  );

  it('uses a wide screen for a long list: everything asked for is on it at once', async () => {
    await visit(
      {
        app: await registerApp(worlds.short.origin),
        scope: SCOPES.filter((scope) => !scope.endsWith(':write')).join(' '),
      },
      async (page) => expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThanOrEqual(800),
      { width: 1280, height: 800 },
    );
  });

  it('grants, approved as it is shown, exactly what it names in words and has ticked', async () => {
    const app = await registerApp(worlds.short.origin);
    await visit({ app, scope: SCOPES.join(' ') }, async (page, request) => {
      const ticked = await page.locator('.scope:has(input:checked)').all();
      for (const scope of ticked) expect((await scope.innerText()).trim().length).toBeGreaterThan(8);
      const values = await page
        .locator('input:checked')
        .evaluateAll((boxes) => boxes.map((box) => (box as unknown as { value: string }).value));
      expect(values.length).toBe(ticked.length);
      expect(values.filter((value) => value.endsWith(':write'))).toEqual([]);
      const answered = page.waitForResponse(
        (response) => response.status() === 303 && response.url().includes('/oauth/authorize/'),
      );
      await page.locator('button[value=approve]').click();
      const location = new URL((await (await answered).allHeaders()).location ?? '');
      const granted = (await redeem(app, request, location)).scope?.split(' ').toSorted();
      expect(granted).toEqual(['openid', ...values].toSorted());
    });
  });

  it('grants what is folded only after it was opened and ticked, by keyboard', async () => {
    const app = await registerApp(worlds.short.origin);
    await visit({ app, scope: SCOPES.join(' ') }, async (page, request) => {
      for (const box of await page.locator('.read fieldset > .scope input').all()) await box.press('Space');
      await page.locator('button[value=approve]').press('Enter');
      await page.getByRole('alert').waitFor();
      expect(await page.locator('input:checked').count()).toBe(0);
      const [reads, writes] = await page.locator('details.list').all();
      expect(await page.locator('input[value="posts:read"]').isVisible()).toBe(false);
      await reads?.locator('summary').press('Enter');
      await page.locator('input[value="posts:read"]').press('Space');
      await writes?.locator('summary').press('Enter');
      await page.locator('input[value="events:write"]').press('Space');
      const answered = page.waitForResponse(
        (response) => response.status() === 303 && response.url().includes('/oauth/authorize/'),
      );
      await page.locator('button[value=approve]').press('Enter');
      const location = new URL((await (await answered).allHeaders()).location ?? '');
      expect((await redeem(app, request, location)).scope).toBe('openid events:write posts:read');
    });
  });
});
