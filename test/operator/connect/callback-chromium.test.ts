import { describe, expect, it } from 'vitest';
import { listenForCallback } from '../../../src/operator/connect/callback-server.ts';
import { closeLook, complaintsOf } from '../../support/album.ts';
import { browserPresent, launchChromium } from '../../support/chromium.ts';
import { CookieBrowser } from './support/cookie-browser.ts';
import { runConnect } from './support/run-connect.ts';
import { startTestGate } from './support/test-gate.ts';

const SITE = 'Harbour Lane School for <b>Everybody</b> by the Sea';
const CANARY = 'canary-41c7';

describe('the page at the end of `coursegate connect`', () => {
  it('has the name of the site, and headers that allow nothing but its own style', async () => {
    const gate = await startTestGate();
    const pages: { status: number; headers: Headers; text: string }[] = [];
    const keep = async (answer: Response) =>
      pages.push({ status: answer.status, headers: answer.headers, text: await answer.text() });
    try {
      await runConnect(gate.origin, {
        open: async (address) => {
          const redirect = new URL(address).searchParams.get('redirect_uri') ?? '';
          await keep(await fetch(new URL('/elsewhere', redirect)));
          await keep(await fetch(`${redirect}?code=${CANARY}&state=wrong`));
          const { url, response } = await new CookieBrowser().follow(address);
          expect(url.href.startsWith(redirect)).toBe(true);
          await keep(response);
        },
      });
    } finally {
      await gate.close();
    }
    expect(pages.map(({ status }) => status)).toEqual([404, 400, 200]);
    for (const { headers, text } of pages) {
      expect(text).toContain(`<bdi>${new URL(gate.origin).host}</bdi>`);
      expect(text).not.toContain(CANARY);
      expect(headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; style-src 'sha256-[\w+/]+=*'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
      );
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  it.skipIf(!browserPresent())('is readable in Chromium on every screen, whatever happened', async () => {
    const { look, findings, count } = closeLook('connect');
    const browser = await launchChromium();
    const server = await listenForCallback(SITE);
    try {
      const context = await browser.newContext();
      const complaints = complaintsOf(context);
      const page = await context.newPage();
      const show = async (url: string, heading: string, title?: string) => {
        await page.goto(url);
        await page.locator('main#connect').waitFor();
        expect(await page.locator('h1').innerText()).toBe(heading);
        const text = await page.locator('body').innerText();
        expect(text).toContain(SITE);
        expect(text).not.toContain(CANARY);
        expect(await page.evaluate('getComputedStyle(document.querySelector("main")).maxWidth')).toBe('544px');
        if (title !== undefined) await look(page, title);
      };
      const back = (parameters: Record<string, string>) =>
        `${server.redirectUri}?${new URLSearchParams({ error_description: CANARY, ...parameters })}`;
      const { signal } = new AbortController();
      void server.receive({ state: 'mine', url: 'https://school.example/' }, signal);
      await show(server.redirectUri.replace('/callback', '/elsewhere'), 'There is nothing at this address');
      await show(back({ code: CANARY, state: CANARY }), 'This is not the expected response', 'stranger');
      await show(back({ error: 'access_denied', state: 'mine' }), 'Nothing was connected', 'denied');
      void server.receive({ state: 'mine', url: 'https://school.example/' }, signal);
      await show(back({ error: 'server_error', state: 'mine' }), 'Nothing was connected');
      void server.receive({ state: 'mine', url: 'https://school.example/' }, signal);
      await show(back({ code: CANARY, state: 'mine' }), 'You can close this window', 'received');
      expect(complaints).toEqual([]);
    } finally {
      await browser.close();
      await server.close();
    }
    expect(findings).toEqual([]);
    expect(count.pages).toBe(3);
  });
});
