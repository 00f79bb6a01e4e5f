import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeLook, complaintsOf, LANGUAGES } from '../support/album.ts';
import { authorizationRequest, registerApp } from '../support/app.ts';
import { browserPresent, launchChromium } from '../support/chromium.ts';
import { SAM } from '../support/member.ts';
import { startWorld, type World } from '../support/world.ts';
import { ROLES_KEY, type RolesSchool, rolesFrom, sam, startRolesSchool } from './roles-school.ts';

const LONGEST = 240_000;

describe.skipIf(!browserPresent())('a scope that needs a role, in a browser', () => {
  let school: RolesSchool;
  let world: World;
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
    school = await startRolesSchool();
    const { upstreams, roles } = rolesFrom(school);
    school.records.set(sam, {
      courses: { algebra: 'instructor', botany: 'instructor', chess: ['instructor', 'assistant'] },
    });
    world = await startWorld({
      profile: 'A',
      environment: { ROLES_KEY },
      overrides: {
        upstreams,
        roles,
        scopes: {
          'courses:write': { role: 'instructor of any course' },
          'students:read': { role: ['instructor of any course', 'assistant of any course'] },
        },
      },
    });
  }, LONGEST);
  afterAll(async () => {
    await browser.close();
    await world.close();
    await school.upstream.close();
  });

  it('says on the consent page where it applies, in every language and on every screen', {
    timeout: LONGEST,
  }, async () => {
    const { look, findings, count } = closeLook('roles', LANGUAGES);
    const context = await browser.newContext();
    context.setDefaultTimeout(20_000);
    try {
      const complaints = complaintsOf(context);
      const page = await context.newPage();
      const scope = 'openid account:read students:read courses:write';
      await page.goto(String((await authorizationRequest(await registerApp(world.origin), { scope })).url));
      await page.locator('#login').fill(SAM.login);
      await page.locator('#password').fill(SAM.password);
      await page.locator('form[action="/login"] button').click();
      await page.locator('.permissions').waitFor();
      const shown = (await page.locator('.permissions').innerText()).replace(/\s+/g, ' ');
      expect(shown).toContain('in the 3 courses you teach');
      expect(shown).toContain('in the 3 courses where your role is instructor / assistant');
      await look(page, 'consent');
      expect(complaints).toEqual([]);
    } finally {
      await context.close();
    }
    expect(findings).toEqual([]);
    expect(count.pages).toBe(1);
  });
});
