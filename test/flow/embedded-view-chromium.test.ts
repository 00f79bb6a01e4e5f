import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authorizationRequest, redeem, registerApp } from '../support/app.ts';
import { browserPresent, launchChromium } from '../support/chromium.ts';
import { startWorld, type World } from '../support/world.ts';

const LONGEST = 60_000;

/**
 * An assistant opens the sign-in in a web view: a browsing context of its own, with cookies of its own, that comes from the
 * assistant's site. Cookies that are SameSite=Strict are not sent on this way, and scripts can set or copy none.
 */
describe.skipIf(!browserPresent())('the sign-in in an embedded web view', () => {
  let world: World;
  let browser: Browser;
  let assistant: { readonly url: string; page: string; close(): void };
  beforeAll(async () => {
    [browser, world] = await Promise.all([launchChromium(), startWorld({ profile: 'A' })]);
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(assistant.page);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    assistant = {
      // Another site than http://localhost, where the gate is.
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      page: '',
      close: () => {
        server.close();
        server.closeAllConnections();
      },
    };
  }, LONGEST);
  afterAll(async () => {
    assistant.close();
    await browser.close();
    await world.close();
  });

  it('approves without a cookie that a form repeats, or that a script can read', { timeout: LONGEST }, async () => {
    const app = await registerApp(world.origin);
    const request = await authorizationRequest(app, { scope: 'account:read' });
    assistant.page = `<!doctype html><script>location.href = ${JSON.stringify(request.url)}</script>`;
    const context = await browser.newContext();
    context.setDefaultTimeout(20_000);
    try {
      const page = await context.newPage();
      await page.goto(assistant.url);
      await page.locator('input[type=password]').waitFor();
      await page.locator('input[name=login]').fill('student@example.com');
      await page.locator('input[type=password]').fill('student');
      await page.locator('form button').first().click();
      await page.locator('main#consent').waitFor();

      expect(await page.evaluate('document.cookie')).toBe('');
      const csrf = await page.locator('main#consent input[name=csrf]').first().inputValue();
      expect(csrf.length).toBeGreaterThan(30);
      const cookies = (await context.cookies()).filter(({ name }) => name.includes('coursegate'));
      expect(cookies.length).toBeGreaterThan(0);
      for (const { name, value, sameSite, httpOnly } of cookies) {
        expect({ name, sameSite, httpOnly }).toEqual({ name, sameSite: 'Lax', httpOnly: true });
        expect(decodeURIComponent(value), name).not.toContain(csrf);
      }

      let returned = '';
      await page.route('https://app.example/**', async (route) => {
        returned = route.request().url();
        await route.fulfill({ body: 'back' });
      });
      await page.locator('main#consent button[value=approve]').click();
      await page.waitForURL('https://app.example/**');
      const tokens = await redeem(app, request, new URL(returned));
      expect(tokens.scope).toBe('account:read');
    } finally {
      await context.close();
    }
  });

  it('is not shown in a frame', { timeout: LONGEST }, async () => {
    const { url } = await authorizationRequest(await registerApp(world.origin));
    assistant.page = `<!doctype html><iframe src="${url.replaceAll('&', '&amp;')}"></iframe>`;
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      const refused: string[] = [];
      page.on('console', (message) => refused.push(message.text()));
      await page.goto(assistant.url, { waitUntil: 'load' });
      await expect.poll(() => refused.join('\n')).toMatch(/frame-ancestors/);
    } finally {
      await context.close();
    }
  });
});
