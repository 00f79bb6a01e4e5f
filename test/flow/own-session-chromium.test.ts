import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeLook, complaintsOf, LANGUAGES } from '../support/album.ts';
import { authorizationRequest, registerApp } from '../support/app.ts';
import { browserPresent, launchChromium } from '../support/chromium.ts';
import { type CookieSchool, connectWith, startCookieSchool } from '../support/cookie-school.ts';
import { startWorld, type World } from '../support/world.ts';

const LONGEST = 240_000;

describe.skipIf(!browserPresent())('an app that uses the member’s own session, in a browser', () => {
  let school: CookieSchool;
  let world: World;
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
    school = await startCookieSchool();
    world = await startWorld({
      profile: 'A',
      overrides: {
        upstreams: {
          school: { url: school.url, identity: [], credential: { kind: 'session', cookies: ['school_session'] } },
        },
        routes: [{ match: '* /api/legacy/**', upstream: 'school', anonymous: 'refuse' }],
      },
    });
  }, LONGEST);
  afterAll(async () => {
    await browser.close();
    await world.close();
    await school.close();
  });

  it('is marked on the consent page and on the page about the connected app, in every language', {
    timeout: LONGEST,
  }, async () => {
    const session = school.signIn('member');
    await connectWith(world.origin, { school_session: session });
    const { look, findings, count } = closeLook('own-session', LANGUAGES);
    const context = await browser.newContext();
    context.setDefaultTimeout(20_000);
    try {
      await context.addCookies([{ name: 'school_session', value: session, url: world.origin }]);
      const complaints = complaintsOf(context);
      const page = await context.newPage();
      const { url } = await authorizationRequest(await registerApp(world.origin));
      for (const [title, address] of [
        ['consent', String(url)],
        ['app', `${world.origin}/oauth/apps`],
      ] as const) {
        await page.goto(address);
        if (title === 'app') await page.locator('.app h2 a').click();
        expect(await page.locator('main').innerText()).toContain('acts with your own sign-in at');
        await look(page, title);
      }
      expect(complaints).toEqual([]);
    } finally {
      await context.close();
    }
    expect(findings).toEqual([]);
    expect(count.pages).toBe(2);
  });
});
