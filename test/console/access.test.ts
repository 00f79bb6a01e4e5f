import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserPresent, launchChromium } from '../support/chromium.ts';
import type { World } from '../support/world.ts';
import { ask, browseConsole, openConsole, startConsoleWorld } from './support/console.ts';

let world: World;
beforeAll(async () => {
  world = await startConsoleWorld();
});
afterAll(() => world.close());

describe('the console', () => {
  it('shows nothing without a session', async () => {
    for (const path of ['/console', '/console/apps', '/console/nowhere']) {
      const { status, location, text } = await ask(world.admin, path, {});
      expect([path, status, location?.split('?')[0], text]).toEqual([path, 303, '/console/sign-in', '']);
    }
    expect((await ask(world.admin, '/console/keys', { method: 'POST', form: {} })).status).toBe(401);
  });

  it('opens with the admin secret, and closes with the session', async () => {
    const session = await openConsole(world);
    const page = await session.get('/console');
    expect(page.status).toBe(200);
    expect(page.text).toContain('<h1>Overview</h1>');
    expect((await session.get('/console/nowhere')).status).toBe(404);
    expect((await session.post('/console/sign-out')).location).toBe('/console/sign-in');
    expect((await session.get('/console')).status).toBe(303);
  });
});

describe.runIf(browserPresent())('in Chromium', () => {
  it('the form opens the first page', async () => {
    const browser = await launchChromium();
    const page = await browseConsole(browser, world);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Overview');
    await browser.close();
  });
});
