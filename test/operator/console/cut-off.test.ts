import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeLook, complaintsOf } from '../../support/album.ts';
import { registerApp } from '../../support/app.ts';
import { browserPresent, launchChromium } from '../../support/chromium.ts';
import { connect } from '../../support/connection.ts';
import { slowness, timeOf } from '../../support/pace.ts';
import type { World } from '../../support/world.ts';
import { browseConsole, startConsoleWorld } from './support/console.ts';
import { grantId, nameOf, seedFast } from './support/seed.ts';

const GRANTS = 100_000;
const LONG = 'The Comprehensive Learning Companion for Navigation & Seamanship';
/** 10,000 members with ten grants each, of 40 apps. */
const SEED = { grants: GRANTS, members: 10_000, apps: 40 };

describe.runIf(browserPresent())(`with ${GRANTS.toLocaleString('en')} grants, in Chromium`, () => {
  let world: World;
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    browser = await launchChromium();
    world = await startConsoleWorld();
    await world.whileStopped(() => seedFast(world.data, SEED));
    page = await browseConsole(browser, world);
  });
  afterAll(async () => {
    await browser.close();
    await world.close();
  });

  it('every page is accessible on every screen', async () => {
    const app = await registerApp(world.origin, { metadata: { client_name: LONG } });
    await connect(app);
    const { look, findings } = closeLook('console-directory');
    const context = await browser.newContext({
      baseURL: world.admin,
      storageState: await page.context().storageState(),
    });
    const complaints = complaintsOf(context);
    const other = await context.newPage();
    const id = encodeURIComponent(String(app.client.client_id));
    for (const [title, path, heading] of [
      ['apps', '/console/apps?power=change', 'Apps'],
      ['grants', '/console/grants?app=app-1&power=change', 'Grants'],
      ['app', `/console/apps/${id}`, LONG],
      ['member', '/console/members/m-1001', 'Sam Student'],
      ['grant', `/console/grants/${grantId(3)}`, 'Dae Smith 3 – Claude 3'],
      ['unknown-member', '/console/members/nobody/suspend', 'Suspend nobody?'],
    ] as const) {
      await other.goto(path);
      while ((await other.getByText('Reading the store').count()) > 0) await other.reload();
      expect(await other.getByRole('heading', { level: 1 }).textContent()).toBe(heading);
      await look(other, title);
    }
    await context.close();
    expect(findings).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('a row of a list is one line on a desktop, and two on a phone', async () => {
    const highest =
      'Math.max(0, ...[...document.querySelectorAll(".list tbody tr")].map(({ offsetHeight }) => offsetHeight))';
    for (const [width, most] of [
      [1280, 28],
      [390, 58],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      for (const path of ['apps', 'members', 'grants', 'search?q=a']) {
        await page.goto(`/console/${path}`);
        while ((await page.getByText('Reading the store').count()) > 0) await page.reload();
        const height = Number(await page.evaluate(highest));
        expect([path, width, height > 20 && height <= most ? most : height]).toEqual([path, width, most]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      }
    }
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.goto('/console');
  });

  it('one app of one member is found and cut off with four clicks, within 15 seconds', async () => {
    let clicks = 0;
    const click = async (target: ReturnType<Page['getByRole']>) => {
      clicks += 1;
      await target.click();
    };
    const spent = await timeOf(async () => {
      await click(page.getByRole('searchbox'));
      await page.keyboard.type(nameOf(4321));
      await page.keyboard.press('Enter');
      await page.waitForURL('**/search?**');
      // While the store is read for the first time, the page says how far it is.
      const hit = page.getByRole('link', { name: nameOf(4321), exact: true });
      while (!(await hit.isVisible())) await page.reload();
      await click(hit);
      await click(page.getByRole('link', { name: 'Disconnect Calendar Sync 1…' }));
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(
        `Disconnect Calendar Sync 1 from ${nameOf(4321)}?`,
      );
      await click(page.getByRole('button', { name: 'Disconnect' }));
      expect(await page.getByRole('status').first().textContent()).toBe('Calendar Sync 1 is disconnected.');
    });
    expect(await page.getByRole('link', { name: 'Calendar Sync 1', exact: true }).count()).toBe(0);
    expect(clicks).toBeLessThanOrEqual(4);
    expect(spent / 1000 / slowness()).toBeLessThan(15);
  });
});
