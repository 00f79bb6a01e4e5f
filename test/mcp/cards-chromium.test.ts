import { mkdirSync } from 'node:fs';
import type { Browser, Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axe, complaintsOf } from '../support/album.ts';
import { browserPresent, launchChromium } from '../support/chromium.ts';
import { startWorld, type World } from '../support/world.ts';
import { type HostContext, startCardHost } from './support/card-host.ts';
import { askModern, call, tokenOf } from './support/mcp.ts';

const PICTURES = process.env.COURSEGATE_PAGES === 'all' ? 'test/artefacts/cards' : undefined;
if (PICTURES !== undefined) mkdirSync(PICTURES, { recursive: true });

const LIGHT: HostContext = { theme: 'light', locale: 'en-GB' };
const SCREENS = [390, 500].flatMap((width) => (['light', 'dark'] as const).map((theme) => [width, theme] as const));

describe.skipIf(!browserPresent())('a card in the frame of a host', () => {
  let browser: Browser;
  let world: World;
  let host: Awaited<ReturnType<typeof startCardHost>>;
  let token: string;
  beforeAll(async () => {
    [browser, world, host] = await Promise.all([launchChromium(), startWorld({ profile: 'A' }), startCardHost()]);
    token = await tokenOf(world);
  });
  afterAll(() => Promise.all([browser.close(), world.close(), host.close()]));

  const cardOf = async (tool: string): Promise<string> => {
    const { body } = await askModern(world, 'tools/list', {}, { token });
    const found = body.result.tools.find(({ name }: { name: string }) => name === tool);
    const { body: read } = await askModern(world, 'resources/read', { uri: found._meta.ui.resourceUri }, { token });
    return read.result.contents[0].text;
  };
  const within = async (
    work: (page: Page, requests: readonly string[]) => Promise<void>,
    { width = 390, theme = 'light' }: { width?: number; theme?: 'light' | 'dark' } = {},
  ): Promise<void> => {
    const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme: theme });
    const complaints = complaintsOf(context);
    const requests: string[] = [];
    context.on('request', (request) => requests.push(new URL(request.url()).pathname));
    await work(await context.newPage(), requests);
    await context.close();
    expect(complaints).toEqual([]);
  };
  const textOf = (frame: Frame) => frame.locator('#card').innerText();

  it.each([
    ['search_courses', { query: 'a' }, /Harbour Navigation/],
    ['get_course', { slug: 'harbour-navigation' }, /Harbour Navigation[\s\S]*Price\s+€/],
    ['list_my_courses', {}, /Your courses[\s\S]*harbour-navigation[\s\S]*Access until/],
    ['list_my_orders', {}, /HL-20007[\s\S]*€187\.00/],
  ])(
    'shows the result of %s on every screen, loads nothing and has no flaw that axe sees',
    async (tool, args, text) => {
      const html = await cardOf(tool);
      const { body } = await call(world, tool, args, { token });
      for (const [width, theme] of SCREENS) {
        await within(
          async (page, requests) => {
            const frame = await host.show(page, html, body.result, { theme, locale: 'en-GB' });
            expect(await textOf(frame)).toMatch(text);
            const findings: string[] = [];
            expect(await axe(page, `${tool} ${width} ${theme}`, findings)).toBeGreaterThan(5);
            expect(findings).toEqual([]);
            for (const button of await frame.locator('button').all()) {
              const box = await button.boundingBox();
              expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(44);
            }
            const size = await frame.evaluate(() => ({
              height: document.documentElement.getBoundingClientRect().height,
              sideways: document.documentElement.scrollWidth - document.documentElement.clientWidth,
            }));
            expect(size.sideways).toBe(0);
            // What Claude shows of a card without scrolling.
            expect(size.height).toBeLessThanOrEqual(500);
            await expect.poll(async () => (await host.asked(page)).sizes.at(-1)?.height).toBe(Math.ceil(size.height));
            expect(requests.toSorted()).toEqual(['/', '/bridge.js', '/card']);
            if (PICTURES !== undefined)
              await page.screenshot({ path: `${PICTURES}/${tool}-${width}-${theme}.png`, fullPage: true });
          },
          { width, theme },
        );
      }
    },
  );

  it('sends what a button says to the chat', async () => {
    const html = await cardOf('list_my_courses');
    const structuredContent = { courses: [{ slug: 'knots', title: 'Knots & <b>Bends</b>', progressPercent: 40 }] };
    await within(async (page) => {
      const frame = await host.show(page, html, { content: [], structuredContent }, LIGHT);
      expect(await frame.locator('progress').evaluate((bar) => (bar as HTMLProgressElement).value)).toBe(40);
      expect(await textOf(frame)).toContain('40%');
      await frame.getByRole('button', { name: 'Continue' }).click();
      await expect
        .poll(async () => (await host.asked(page)).messages)
        .toEqual([
          {
            role: 'user',
            content: [{ type: 'text', text: 'Continue my course “Knots & <b>Bends</b>” (knots) where I stopped.' }],
          },
        ]);
    });
  });

  it('shows values as text, and opens https addresses only', async () => {
    const html = await cardOf('get_course');
    const title = '<img src=x onerror="document.title=1"><script>document.title=2</script>{{title}}';
    for (const [url, buttons] of [
      ['javascript:document.title=3', 0],
      ['http://school.example/', 0],
      [['https://a.example'], 0],
      ['https://school.example/courses/1', 1],
    ] as const) {
      await within(async (page, requests) => {
        const frame = await host.show(page, html, { content: [], structuredContent: { title, url } }, LIGHT);
        expect(await frame.locator('h2').innerText()).toBe(title);
        expect(await frame.locator('img, #card script').count()).toBe(0);
        expect(await frame.title()).toMatch(/^Harbour Lane School/);
        const open = frame.getByRole('button', { name: 'Open the course' });
        expect(await open.count()).toBe(buttons);
        if (buttons === 1) {
          await open.click();
          await expect.poll(async () => (await host.asked(page)).links).toEqual(['https://school.example/courses/1']);
        }
        expect(requests).toHaveLength(3);
      });
    }
  });

  it('shows what waits for the member’s approval, with a button to the page', async () => {
    const html = await cardOf('get_course');
    const url = 'https://school.example/oauth/apps/approvals/Z3x';
    const text = 'Nothing was done yet: the member has to approve this call first.';
    const result = {
      content: [{ type: 'text', text }],
      isError: true,
      _meta: { 'coursegate/approval': { url, expiresAt: '2026-11-30T18:10:00.000Z' } },
    };
    for (const [width, theme] of SCREENS) {
      await within(
        async (page) => {
          const frame = await host.show(page, html, result, { theme });
          expect(await textOf(frame)).toBe(
            'Nothing was done yet: this waits for your approval.\n\nOpen the page to approve',
          );
          const findings: string[] = [];
          await axe(page, 'approval', findings);
          expect(findings).toEqual([]);
          await frame.getByRole('button').click();
          await expect.poll(async () => (await host.asked(page)).links).toEqual([url]);
          if (PICTURES !== undefined)
            await page.screenshot({ path: `${PICTURES}/approval-${width}-${theme}.png`, fullPage: true });
        },
        { width, theme },
      );
    }
  });

  it('shows the text of a result that it cannot fill in', async () => {
    const html = await cardOf('list_my_courses');
    for (const result of [
      { content: [{ type: 'text', text: 'The school did not answer.' }], isError: true },
      { content: [{ type: 'text', text: 'The school did not answer.' }] },
    ]) {
      await within(async (page) => {
        const frame = await host.show(page, html, result, LIGHT);
        expect(await textOf(frame)).toBe('The school did not answer.');
      });
    }
  });

  it.each([
    ['de-AT', 'ltr', 'Ihre Bestellungen', /3\. Feb\. 2026|03\.02\.2026/, /1\.234,50\s€/, 'Seite zum Zustimmen öffnen'],
    ['es-MX', 'ltr', 'Tus pedidos', /3 feb 2026/, /1234,50\s€/, 'Abrir la página para aprobar'],
    ['fr', 'ltr', 'Vos commandes', /3 févr\. 2026/, /1\s234,50\s€/, 'Ouvrir la page pour approuver'],
    // Gregorian, with the digits 0 to 9.
    ['ar-EG', 'rtl', 'طلباتك', /0?3.02.2026/, /1,234\.50/, 'فتح صفحة الموافقة'],
    ['nl-NL', 'ltr', 'Your orders', /3 Feb 2026/, /€1,234\.50/, 'Open the page to approve'],
  ])('speaks %s to its member, as the pages do', async (locale, direction, heading, date, amount, button) => {
    const html = await cardOf('list_my_orders');
    const order = { number: 'A1', placedAt: '2026-02-03T10:00:00Z', amount: '1234.50', currency: 'EUR' };
    const approval = {
      'coursegate/approval': { url: 'https://school.example/a', expiresAt: '2026-11-30T18:10:00.000Z' },
    };
    for (const [width, theme] of SCREENS) {
      await within(
        async (page) => {
          const result = { content: [], structuredContent: { orders: [order, order, order, order] } };
          const frame = await host.show(page, html, result, { theme, locale });
          expect(await frame.locator('h2').innerText()).toBe(heading);
          const text = (await textOf(frame)).replace(/[\u200e\u200f]/g, '');
          expect(text).toMatch(date);
          expect(text).toMatch(amount);
          const findings: string[] = [];
          await axe(page, locale, findings);
          expect(findings).toEqual([]);
          expect(await frame.evaluate(() => document.documentElement.dir)).toBe(direction);
          const sideways = await frame.evaluate(
            () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
          );
          expect(sideways).toBe(0);
          if (PICTURES !== undefined)
            await page.screenshot({ path: `${PICTURES}/orders-${locale}-${width}-${theme}.png`, fullPage: true });
        },
        { width, theme },
      );
    }
    await within(async (page) => {
      const frame = await host.show(
        page,
        html,
        { content: [], isError: true, _meta: approval },
        { theme: 'light', locale },
      );
      expect(await frame.getByRole('button').innerText()).toBe(button);
      expect(await frame.evaluate(() => document.documentElement.dir)).toBe(direction);
    });
  });

  it('sends its messages in the language of its words', async () => {
    const html = await cardOf('list_my_courses');
    await within(async (page) => {
      const structuredContent = { courses: [{ slug: 'knots', title: 'Knots' }] };
      const frame = await host.show(page, html, { content: [], structuredContent }, { theme: 'light', locale: 'de' });
      await frame.getByRole('button', { name: 'Fortsetzen' }).click();
      await expect
        .poll(async () => (await host.asked(page)).messages)
        .toEqual([
          expect.objectContaining({
            content: [{ type: 'text', text: 'Setze meinen Kurs „Knots“ (knots) fort, wo ich aufgehört habe.' }],
          }),
        ]);
    });
  });

  it('takes the host’s language, theme and colours, and hears no one else', async () => {
    const html = await cardOf('list_my_orders');
    const order = { number: 'A1', placedAt: '2026-02-03T10:00:00Z', amount: '1234.50', currency: 'EUR' };
    await within(async (page) => {
      const variables = { '--color-text-primary': 'rgb(1, 2, 3)' };
      const result = { content: [], structuredContent: { orders: [order] } };
      const frame = await host.show(page, html, result, { ...LIGHT, styles: { variables } });
      expect(await textOf(frame)).toMatch(/3 Feb 2026\s+€1,234\.50/);
      expect(await frame.locator('h2').evaluate((one) => getComputedStyle(one).color)).toBe('rgb(1, 2, 3)');
      await host.change(page, { locale: 'de', theme: 'dark' });
      await expect.poll(() => textOf(frame)).toMatch(/03\.02\.2026\s+1\.234,50/);
      expect(await frame.evaluate(() => document.documentElement.style.colorScheme)).toBe('dark');
      // From the card itself instead of its host.
      await frame.evaluate(() =>
        window.postMessage(
          {
            jsonrpc: '2.0',
            method: 'ui/notifications/tool-result',
            params: { content: [{ type: 'text', text: 'forged' }] },
          },
          '*',
        ),
      );
      await frame.evaluate(() => new Promise((resolve) => setTimeout(resolve, 100)));
      expect(await textOf(frame)).not.toContain('forged');
    });
  });
});
