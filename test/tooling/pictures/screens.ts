import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { type Demo, startDemo } from '../../../src/operator/demo/demo.ts';
import { SAM } from '../../support/member.ts';
import { freePort } from '../../support/world.ts';
import { SCHEMES, type Scheme } from './palette.ts';

/** The demo's default ports, which the pictures show. The script itself uses free ports. */
const READERS_PORTS = { gate: 8080, client: 8081 } as const;

/** A screenshot of the recording, and the data drawn around it. */
export interface Screen {
  readonly png: Buffer;
  readonly url: string;
  readonly caption: string;
  /** The text of the page, without the parts that change from day to day. */
  readonly words: string;
  /** Where the pointer is, in CSS pixels of the screenshot. */
  readonly pointer: { readonly x: number; readonly y: number } | undefined;
}

/** Size of a screenshot of the recording, in CSS pixels. */
export const SIZE = { width: 660, height: 500 } as const;

/** Runs the demo on free ports with an empty store, calls `work`, and removes everything afterwards. */
export async function withDemo<T>(work: (demo: Demo) => Promise<T>): Promise<T> {
  const data = mkdtempSync(join(tmpdir(), 'coursegate-pictures-'));
  const environment = {
    PORT: String(await freePort()),
    ADMIN_PORT: '0',
    SCHOOL_PORT: '0',
    CLIENT_PORT: '0',
    COURSEGATE_DATA: data,
    COURSEGATE__LOG__LEVEL: 'silent',
  };
  const demo = await startDemo({ environment, clock: Date.now });
  try {
    return await work(demo);
  } finally {
    await demo.close();
    rmSync(data, { recursive: true, force: true });
  }
}

/** The whole consent page, narrow enough to be read on a phone, in both colour schemes. */
export async function consentPictures(browser: Browser, demo: Demo): Promise<Readonly<Record<Scheme, Buffer>>> {
  const context = await browser.newContext({ viewport: { width: 520, height: 800 }, deviceScaleFactor: 2 });
  const page = await context.newPage();
  await page.goto(demo.urls.client);
  await submit(page, '/connect').click();
  await signIn(page);
  await page.locator('main#consent').waitFor();
  await showReadersPorts(page, demo);
  const pictures: Record<string, Buffer> = {};
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    pictures[colorScheme] = await page.screenshot({ fullPage: true });
  }
  await context.close();
  return pictures as Record<Scheme, Buffer>;
}

/** A member connects the sample app, reads the result, and disconnects it at the school. */
export async function recordScreens(browser: Browser, demo: Demo): Promise<readonly Screen[]> {
  const context = await browser.newContext({ viewport: SIZE, colorScheme: 'light' });
  const page = await context.newPage();
  const screens: Screen[] = [];
  const shoot = async (caption: string, at?: Locator) => {
    await at?.scrollIntoViewIfNeeded();
    await showReadersPorts(page, demo);
    const box = await at?.boundingBox();
    screens.push({
      png: await page.screenshot(),
      url: readersUrl(page.url(), demo),
      caption,
      words: await wordsOf(page),
      pointer: box ? { x: box.x + box.width / 2, y: box.y + box.height * 0.6 } : undefined,
    });
  };
  const press = async (caption: string, at: Locator) => {
    await shoot(caption, at);
    await at.click();
  };

  await page.goto(demo.urls.client);
  await press('An app asks to connect', submit(page, '/connect'));
  await page.locator('main#school-login').waitFor();
  await fillIn(page);
  await press('The member signs in on the school’s own page', page.locator('main#school-login form button'));
  await page.locator('main#consent').waitFor();
  await shoot('The gate asks what the app may see');
  await press('The member approves', page.locator('button[value=approve]'));
  await page.locator('.app .courses').first().waitFor();
  await page.evaluate('document.querySelector(".app .courses").scrollIntoView({ block: "end" })');
  await shoot('The app reads what was approved');
  await page.evaluate('document.querySelector(".wire").scrollIntoView()');
  await shoot('Every request and response is on the page');

  await page.goto(`${demo.origin}/oauth/apps`);
  await press('The member disconnects the app', page.locator('main a[href*="/oauth/apps/disconnect"]').first());
  await press('The member confirms', page.locator('main form button[type=submit]'));
  await page.waitForURL(/\/oauth\/apps(?:\?|$)/);
  await page.goto(demo.urls.client);
  const again = submit(page, '/courses');
  await press('The app tries again', again);
  await submit(page, '/connect').waitFor();
  await page.evaluate('scrollTo(0, 0)');
  await shoot('Its token no longer works, and it says so');
  await context.close();
  return screens;
}

const submit = (page: Page, action: string): Locator => page.locator(`form[action$="${action}"] button`).first();

export async function fillIn(page: Page): Promise<void> {
  await page.locator('input[name=login]').fill(SAM.login);
  await page.locator('input[name=password]').fill(SAM.password);
}

async function signIn(page: Page): Promise<void> {
  await page.locator('main#school-login').waitFor();
  await fillIn(page);
  await page.locator('main#school-login form button').click();
}

/** The text of a page, with dates as DATE, IDs as ID, other numbers as 0, and times that pass as words. Steps are reduced to titles, since they contain tokens. */
export async function wordsOf(page: Page): Promise<string> {
  const app = await page.locator('.app, .step .title').allInnerTexts();
  const text = app.length > 0 ? app.join(' ') : await page.locator('body').innerText();
  return (
    text
      .replace(/\b[0-9a-f-]{12,}\b|[\w-]{8}…/g, 'ID')
      .replace(/\d{4}-\d\d-\d\d|\d{1,2} (?:[A-Z][a-z]+ \d{4}|[A-Z][a-z]{2}\b)/g, 'DATE')
      .replace(/just now|\d+ \w+ ago/g, 'AGO')
      .replace(/(Running for) [^.]+/, '$1 A WHILE')
      .replace(/\d+(?:[.,]\d+)*/g, '0')
      .replace(/\s+/g, ' ')
      // How long requests took depends on the machine, and so do the charts.
      .replace(/(answered, )[^.]+/, '$1SOON')
      // As many times below a chart as fit its hour, and the date at midnight.
      .replace(/(?=(?: DATE)? 0:0)(?: (?:0:0|DATE)){2,}/g, ' TIMES')
      .replace(/(Traffic in the last hour) .+ (Refusals)/, '$1 FIGURES $2')
      .trim()
  );
}

function readersUrl(text: string, { origin, urls }: Demo): string {
  return text
    .replaceAll(origin, `http://localhost:${READERS_PORTS.gate}`)
    .replaceAll(urls.client, `http://localhost:${READERS_PORTS.client}`);
}

/** Replaces the free ports in the page's text by the default ones. */
export async function showReadersPorts(page: Page, { origin, urls }: Demo): Promise<void> {
  const pairs = [
    [new URL(origin).host, `localhost:${READERS_PORTS.gate}`],
    [new URL(urls.client).host, `localhost:${READERS_PORTS.client}`],
  ];
  await page.evaluate(`for (const [from, to] of ${JSON.stringify(pairs)}) {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll(from, to);
  }`);
}
