import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { Demo } from '../../../src/operator/demo/demo.ts';
import { liveAnHour, type Pass } from './life.ts';
import { SCHEMES, type Scheme } from './palette.ts';
import { fillIn, type Screen, showReadersPorts, wordsOf } from './screens.ts';

/** A page as the documentation shows it, in both colour schemes. */
export interface PageShot {
  /** The file, without scheme and ending. */
  readonly name: string;
  readonly png: Readonly<Record<Scheme, Buffer>>;
  /** The text of the page, without the parts that change from day to day. */
  readonly words: string;
}

const PHONE = { viewport: { width: 390, height: 560 }, deviceScaleFactor: 2 } as const;
const DESKTOP = { viewport: { width: 1120, height: 760 }, deviceScaleFactor: 1.5 } as const;

/** Shows the member's pages on a phone, and the pages for operators and /mcp on a desktop. */
export async function pageShots(browser: Browser, demo: Demo, pass: Pass): Promise<readonly PageShot[]> {
  const shots: PageShot[] = [];
  const shoot = async (name: string, page: Page, fullPage = true) => {
    await showReadersPorts(page, demo);
    const png: Partial<Record<Scheme, Buffer>> = {};
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      png[colorScheme] = await page.screenshot({ fullPage });
    }
    shots.push({ name, png: png as Record<Scheme, Buffer>, words: await wordsOf(page) });
  };
  const inContext = async (options: BrowserContextOptions, work: (page: Page) => Promise<void>) => {
    const context = await browser.newContext(options);
    await work(await context.newPage());
    await context.close();
  };

  const operator = await browser.newContext(DESKTOP);
  const console = await operator.newPage();
  const { console: start } = demo.urls;
  await console.goto(start);
  await console.getByLabel('Admin secret').fill(demo.adminSecret);
  await console.getByRole('button', { name: 'Sign in' }).click();
  await console.waitForURL('**/console');
  // A look at the traffic closes the minutes that have passed. The first page would also begin to read the apps.
  await liveAnHour(demo, pass, () => console.goto(`${start}/traffic`));

  await inContext(PHONE, async (page) => {
    await page.goto(demo.urls.client);
    await page.locator('form[action$="/connect"] button').first().click();
    await page.locator('main#school-login').waitFor();
    await fillIn(page);
    await shoot('sign-in', page);
    await page.locator('main#school-login form button').click();
    await page.locator('main#consent').waitFor();
    await page.locator('button[value=approve]').click();
    await page.locator('.app .courses').first().waitFor();
    await page.goto(`${demo.origin}/oauth/apps`);
    await shoot('connected-apps', page);
    await page.locator('main a', { hasText: 'Study Buddy' }).first().click();
    await page.waitForURL(/\/oauth\/apps\/./);
    await shoot('connected-app', page);
  });
  await inContext(DESKTOP, async (page) => {
    await page.goto(`${demo.origin}/mcp`);
    await shoot('mcp-page', page);
  });

  // Uses are written every 15 seconds.
  await console.waitForTimeout(16_000);
  // Long enough for the console to read the apps again.
  pass(4);
  await console.goto(`${start}/apps`);
  const until = async (text: string) => {
    for (let tries = 0; (await console.getByText(text).count()) === 0; tries += 1) {
      if (tries === 60) throw new Error(`no ${text} on ${console.url()}: ${await console.locator('body').innerText()}`);
      await console.waitForTimeout(500);
      await console.reload();
    }
  };
  await until('Study Planner');
  await console.getByRole('link', { name: 'Study Planner' }).first().click();
  await console.waitForURL(/\/console\/apps\/./);
  const planner = console.url();
  await until('By day');
  pass(4);
  await until('today');
  await console.goto(start);
  await shoot('console-overview', console, false);
  await console.goto(planner);
  await shoot('console-app', console, false);
  await console.goto(`${start}/connections?state=stopped`);
  await console.getByRole('link', { name: 'Course Planner' }).first().click();
  await console.getByText('Cause: ').waitFor();
  await shoot('console-connection', console, false);
  await operator.close();
  return shots;
}

/** The text of all pages that the pictures show, by which a test notices that a page has changed. */
export function wordsIn(screens: readonly Screen[], shots: readonly PageShot[]) {
  return {
    recording: screens.map(({ caption, words }) => ({ caption, words })),
    pages: shots.map(({ name, words }) => ({ name, words })),
  };
}
