import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeLook, complaintsOf } from '../../support/album.ts';
import { authorizationRequest, registerApp } from '../../support/app.ts';
import { createBrowser } from '../../support/browser.ts';
import { browserPresent, launchChromium } from '../../support/chromium.ts';
import { reachConsent } from '../../support/member.ts';
import type { World } from '../../support/world.ts';
import { browseConsole, startConsoleWorld } from './support/console.ts';

describe.runIf(browserPresent())('the pages of the connection recorder', () => {
  let world: World;
  let browser: Browser;
  beforeAll(async () => {
    [browser, world] = await Promise.all([launchChromium(), startConsoleWorld()]);
    const long = `An app whose name is so long that it fills ${'more than one line '.repeat(4)}`.slice(0, 64);
    const app = await registerApp(world.origin, { metadata: { client_name: long } });
    await reachConsent((await authorizationRequest(app)).url);
    await createBrowser().open((await authorizationRequest(app, { scope: 'teleport:everywhere' })).url);
  });
  afterAll(async () => {
    await browser.close();
    await world.close();
  });

  it('are accessible on every screen, and lead by keyboard from the first page to the cause', async () => {
    const { look, findings } = closeLook('console-connections');
    const page = await browseConsole(browser, world);
    const complaints = complaintsOf(page.context());
    await page.getByRole('link', { name: /All that stopped/ }).focus();
    await page.keyboard.press('Enter');
    await page.locator('.cause', { hasText: 'The app asks for a scope' }).waitFor();
    const states = page.getByRole('navigation', { name: 'State' });
    expect(await states.locator('[aria-current]').innerText()).toBe('stopped');
    await states.getByRole('link', { name: 'All' }).press('Enter');
    await page.locator('.badge.warn').first().waitFor();
    await look(page, 'list');
    await page.locator('.list th a').first().press('Enter');
    await page.getByText('Cause: scope-unknown').waitFor();
    await page.locator('summary').press('Enter');
    await look(page, 'attempt');
    expect(await page.locator('.report').innerText()).toContain('no such scope: teleport:everywhere');
    expect([...findings, ...complaints]).toEqual([]);
    await page.context().close();
  });
});
