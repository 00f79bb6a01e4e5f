import { mkdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { AxeBuilder } from '@axe-core/playwright';
import type { BrowserContext, Page } from 'playwright-core';
import { keyboardFindings } from './keyboard.ts';

/** Called for each page of a story, with the title of the step. */
export type Look = (page: Page, title: string) => Promise<void>;

const ARTEFACTS = fileURLToPath(new URL('../artefacts', import.meta.url));

const SCREENS = {
  phone: { viewport: { width: 390, height: 844 }, colorScheme: 'light' },
  desktop: { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
} as const;

/** An empty folder under test/artefacts. */
function newFolder(name: string): string {
  const folder = `${ARTEFACTS}/${name}`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** `npm run test:pages`: each page in each language on each screen, with screenshots, from which it makes contact sheets. */
const EVERYTHING = process.env.COURSEGATE_PAGES === 'all';

/**
 * With EVERYTHING, creates an album under test/artefacts: two screenshots per page, numbered in order (light phone, dark
 * desktop).
 */
export function album(name: string): Look {
  const folder = newFolder(name);
  let count = 0;
  return async (page, title) => {
    if (!EVERYTHING) return;
    count += 1;
    const path = `${folder}/${String(count).padStart(2, '0')}-${title}`;
    await onEachScreen(page, (screen) => page.screenshot({ path: `${path}.${screen}.png`, fullPage: true }));
  };
}

const AXE: Parameters<AxeBuilder['options']>[0] = {
  runOnly: { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'] },
  // By default axe also reports every element that passes, which is far more output than the violations.
  resultTypes: ['violations'],
};

interface Inspection {
  readonly look: Look;
  readonly findings: string[];
  readonly count: { pages: number; rules: number };
}

/**
 * Checks WCAG 2.2 AA as far as axe can, on both screens, and that nothing scrolls sideways at 320 px (success criterion
 * 1.4.10).
 */
export function inspection(): Inspection {
  const findings: string[] = [];
  const count = { pages: 0, rules: 0 };
  const look: Look = async (page, title) => {
    count.pages += 1;
    await onEachScreen(page, async (screen) => {
      count.rules += await axe(page, `${title} on a ${screen}`, findings);
    });
    await page.setViewportSize({ width: 320, height: 640 });
    const width = await page.evaluate('document.documentElement.scrollWidth');
    if (width !== 320) findings.push(`${title}: ${width} px wide on a screen of 320 px`);
  };
  return { look, findings, count };
}

/** What the pages speak. English comes last, so that a story goes on in English. */
export const LANGUAGES = ['es', 'de', 'fr', 'ar', 'en'] as const;

/**
 * 320 px is the narrowest width that WCAG asks for (success criterion 1.4.10, the same as 400 % zoom); the others are a
 * phone and a desktop. Each in both colour schemes.
 */
const EVERY_SCREEN = ([320, 390, 1280] as const).flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })),
);

/** Where buttons that stay at the bottom of the screen cover nothing: axe would measure what they leave visible. */
const TO_THE_END = 'scrollTo(0, document.documentElement.scrollHeight)';
/** The placeholders that their fields cut. */
const CUT = `[...document.querySelectorAll('input[placeholder]')].flatMap((field) => {
  const { font, paddingLeft, paddingRight } = getComputedStyle(field);
  const canvas = document.createElement('canvas').getContext('2d');
  canvas.font = font;
  const room = field.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
  return canvas.measureText(field.placeholder).width > room ? [field.placeholder] : [];
})`;
const OPEN_ALL = 'for (const one of document.querySelectorAll("details")) one.open = true';

interface CloseLook {
  readonly look: Look;
  readonly findings: string[];
  readonly count: { pages: number; screens: number; rules: number };
}

/**
 * Checks pages on every screen: WCAG 2.2 AA as far as axe can, that nothing scrolls sideways, and that no placeholder is
 * cut on a phone. With several languages, each page is loaded again with another Accept-Language (the browser context must
 * have no locale of its own), and the Tab key must reach everything on it; it is seen in each language and on each screen
 * at least once, and with EVERYTHING in each language on each screen. Screenshots of what has findings, or with EVERYTHING of all, are left in the folder
 * `name` of test/artefacts.
 */
export function closeLook(name: string, languages: readonly string[] = ['en']): CloseLook {
  const folder = newFolder(name);
  const inTurn = languages.length > 1;
  const findings: string[] = [];
  const count = { pages: 0, screens: 0, rules: 0 };

  const look: Look = async (page, title) => {
    const turn = count.pages;
    count.pages += 1;
    for (const [at, language] of languages.entries()) {
      if (inTurn) findings.push(...(await inLanguage(page, language)).map((found) => `${title}: ${found}`));
      for (const width of [320, 390]) {
        await page.setViewportSize({ width, height: 800 });
        const cut = (await page.evaluate(CUT)) as readonly string[];
        findings.push(...cut.map((placeholder) => `${title}.${language}.${width}: “${placeholder}” is cut`));
      }
      const screens = EVERY_SCREEN.filter((_, screen) => EVERYTHING || (screen + turn) % languages.length === at);
      for (const { width, colorScheme } of screens) {
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme });
        const where = `${title}.${language}.${width}.${colorScheme}`;
        const file = `${folder}/${where}.png`;
        if (EVERYTHING) {
          await page.evaluate(TO_THE_END);
          await page.screenshot({ path: file, fullPage: true });
        }
        if (inTurn) await page.evaluate(OPEN_ALL);
        await page.evaluate(TO_THE_END);
        const before = findings.length;
        const scrolled = await page.evaluate('document.documentElement.scrollWidth');
        if (scrolled !== width) findings.push(`${where}: ${scrolled} px wide`);
        count.rules += await axe(page, where, findings);
        count.screens += 1;
        if (findings.length > before && !EVERYTHING) await page.screenshot({ path: file, fullPage: true });
      }
      if (inTurn && (EVERYTHING || turn % languages.length === at)) {
        findings.push(...(await keyboardFindings(page)).map((found) => `${title}.${language}: ${found}`));
      }
    }
  };

  return { look, findings, count };
}

async function inLanguage(page: Page, language: string): Promise<readonly string[]> {
  await page.setExtraHTTPHeaders({ 'accept-language': language });
  await page.reload();
  const html = page.locator('html');
  const shown = `${await html.getAttribute('lang')} ${await html.getAttribute('dir')}`;
  const expected = `${language} ${language === 'ar' ? 'rtl' : 'ltr'}`;
  return shown === expected ? [] : [`${shown} instead of ${expected}`];
}

const require = createRequire(import.meta.url);
/** The axe of AxeBuilder: 1.5 MB of script, which AxeBuilder would run twice in each page. */
const { source } = createRequire(require.resolve('@axe-core/playwright'))('axe-core') as { source: string };
const NO_SOURCE = '0';

/** Adds the violations to `findings` and returns how many rules passed. */
export async function axe(page: Page, where: string, findings: string[]): Promise<number> {
  for (const frame of page.frames()) {
    // With a value of its own, so that axe is not sent back.
    if ((await frame.evaluate('typeof axe')) !== 'object') await frame.evaluate(`${source};0`);
  }
  const builder = new AxeBuilder({ page, axeSource: NO_SOURCE });
  const { passes, violations } = await builder.options(AXE).setLegacyMode().analyze();
  for (const { id, nodes } of violations) {
    for (const { target } of nodes) findings.push(`${where}: ${id} at ${target.join(' ')}`);
  }
  return passes.length;
}

async function onEachScreen(page: Page, work: (screen: string) => Promise<unknown>): Promise<void> {
  for (const [screen, { viewport, colorScheme }] of Object.entries(SCREENS)) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    // Study Buddy scrolls to its newest step, but a full-page screenshot starts at the top.
    await page.evaluate('scrollTo(0, 0)');
    await work(screen);
  }
}

/**
 * Collects what the browser reports in a context: script errors, blocked content, console errors. Ignores the message
 * that Chromium logs for every page with an error status, because the stories show such pages on purpose.
 */
export function complaintsOf(context: BrowserContext): string[] {
  const complaints: string[] = [];
  const shown = new Set<string>();
  context.on('request', (request) => {
    if (request.isNavigationRequest()) shown.add(request.url());
  });
  context.on('console', (message) => {
    const { url } = message.location();
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    if (/^Failed to load resource: .* status of [45]/.test(message.text()) && shown.has(url)) return;
    complaints.push(`${message.text()} (${url})`);
  });
  context.on('weberror', (thrown) => complaints.push(String(thrown.error())));
  return complaints;
}
