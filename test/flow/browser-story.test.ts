import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Demo, startDemo } from '../../src/operator/demo/demo.ts';
import { album, complaintsOf, inspection, type Look } from '../support/album.ts';
import { registerApp } from '../support/app.ts';
import { browserPresent, launchChromium } from '../support/chromium.ts';
import { aroundTheSchool, changeOfMind, connectAndCutOff, schoolDown, wrongRequests } from '../support/story.ts';
import { freePort, startWorld } from '../support/world.ts';

/** Takes about twenty seconds on a quiet machine; this allows for one that runs everything at once. */
const LONGEST = { timeout: 240_000 };

describe.skipIf(!browserPresent())('in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  const visit = async (javaScriptEnabled: boolean, story: (page: Page) => Promise<void>): Promise<void> => {
    const context = await browser.newContext({ javaScriptEnabled });
    context.setDefaultTimeout(20_000);
    const complaints = complaintsOf(context);
    await story(await context.newPage());
    await context.close();
    expect(complaints).toEqual([]);
  };

  /**
   * Runs a story in two browsers: one without scripts, for the album, and one with scripts, which axe needs, for the
   * inspection.
   */
  const tell = async (name: string, story: (page: Page, look: Look) => Promise<void>): Promise<void> => {
    const { look, findings, count } = inspection();
    await Promise.all([visit(false, (page) => story(page, album(name))), visit(true, (page) => story(page, look))]);
    expect(findings).toEqual([]);
    expect(count.rules).toBeGreaterThan(10 * count.pages);
  };

  describe.concurrent.each([{ profile: 'A' }, { profile: 'B' }])('in Profile $profile', ({ profile }) => {
    let demo: Demo;
    let data: string;
    beforeAll(async () => {
      data = mkdtempSync(join(tmpdir(), 'coursegate-story-'));
      const environment = {
        PORT: String(await freePort()),
        ADMIN_PORT: '0',
        SCHOOL_PORT: '0',
        CLIENT_PORT: '0',
        COURSEGATE_PROFILE: profile,
        COURSEGATE_DATA: data,
      };
      demo = await startDemo({ environment, clock: Date.now });
    });
    afterAll(async () => {
      await demo.close();
      rmSync(data, { recursive: true, force: true });
    });

    it('a member connects Study Buddy, reads, and disconnects it', LONGEST, async () => {
      if (profile === 'B') return visit(false, (page) => connectAndCutOff(page, demo, album('story-b')));
      await tell('story-a', async (page, look) => {
        await connectAndCutOff(page, demo, look);
        await changeOfMind(page, demo, look);
        await aroundTheSchool(page, demo, look);
      });
    });
  });

  it.concurrent(
    'an invalid request and a school that is down each lead to a page that says what to do',
    LONGEST,
    async () => {
      const world = await startWorld({ profile: 'A' });
      try {
        const app = await registerApp(world.origin);
        await tell('wrong-requests', (page, look) => wrongRequests(page, app, look));
        await world.school.close();
        await tell('school-down', (page, look) => schoolDown(page, app, look));
      } finally {
        await world.close();
      }
    },
  );
});
