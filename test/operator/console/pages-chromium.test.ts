import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signLink } from '../../../src/operator/console/link.ts';
import { closeLook, complaintsOf } from '../../support/album.ts';
import { browserPresent, launchChromium } from '../../support/chromium.ts';
import { COMMAND_SECRET } from '../../support/commands.ts';
import type { World } from '../../support/world.ts';
import { browseConsole, startConsoleWorld } from './support/console.ts';

/** Pages that the tests of the other parts do not look at, and lists without entries. */
const FURTHER_PAGES = [
  ['search', 'search?q=a'],
  ['apps', 'apps'],
  ['members', 'members'],
  ['registration', 'registration/close'],
  ['day', 'traffic?span=day'],
  ['rotate', 'keys/rotate'],
  ['events', 'events'],
] as const;

describe.runIf(browserPresent())('the console in Chromium', () => {
  let world: World;
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
    world = await startConsoleWorld({
      overrides: {
        admin: { hmac: { secret: { env: 'COMMAND_SECRET' } } },
        upstreams: { school: { url: 'http://127.0.0.1:9' } },
        constants: { upstreams: { school: { breaker: { cooldown: 600 } } } },
        enforcement: { mode: 'observe' },
        name: 'The Royal Conservatoire of Seamanship, Navigation and Harbours',
      },
    });
    for (let times = 0; times < 5; times += 1) await fetch(`${world.origin}/`);
  });
  afterAll(async () => {
    await browser.close();
    await world.close();
  });

  it('is accessible on every screen', async () => {
    const { look, findings, count } = closeLook('console');
    const context = await browser.newContext({ baseURL: world.admin });
    const complaints = complaintsOf(context);
    const page = await context.newPage();
    await page.goto('/nowhere');
    await look(page, 'admin-not-found');
    await page.goto('/');
    await page.getByLabel('Admin secret').fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await look(page, 'sign-in');
    await page.goto(`/console/sign-in?link=${signLink(COMMAND_SECRET, Math.floor(Date.now() / 1000))}`);
    await look(page, 'link');
    await page.getByRole('button', { name: 'Open the console' }).click();
    await page.getByText('school has not answered since').waitFor();
    await look(page, 'overview');
    await page.goto('/console/nowhere');
    await look(page, 'not-found');
    for (const [title, path] of FURTHER_PAGES) {
      expect((await page.goto(`/console/${path}`))?.status()).toBe(200);
      await look(page, title);
    }
    await context.close();
    expect(findings).toEqual([]);
    expect(count.pages).toBe(5 + FURTHER_PAGES.length);
    expect(complaints).toEqual([]);
  });

  it('is usable by keyboard', async () => {
    const page = await browseConsole(browser, world);
    await page.reload();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
    await page.getByRole('button', { name: 'Sign out' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Signed out' }).waitFor();
    await page.context().close();
  });

  it('works without JavaScript', async () => {
    const page = await browseConsole(browser, world, { javaScriptEnabled: false });
    await page.getByRole('link', { name: 'Overview' }).click();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Overview');
    await page.context().close();
  });
});
