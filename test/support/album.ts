import { mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { AxeBuilder } from '@axe-core/playwright';
import type { BrowserContext, Page } from 'playwright-core';

/** Called for each page of a story, with the title of the step. */
export type Look = (page: Page, title: string) => Promise<void>;

const ARTEFACTS = fileURLToPath(new URL('../artefacts', import.meta.url));

const SCREENS = {
  phone: { viewport: { width: 390, height: 844 }, colorScheme: 'light' },
  desktop: { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
} as const;

/** An empty folder under test/artefacts. */
export function newFolder(name: string): string {
  const folder = `${ARTEFACTS}/${name}`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Creates an album under test/artefacts: two screenshots per page, numbered in order (light phone, dark desktop). */
export function album(name: string): Look {
  const folder = newFolder(name);
  let count = 0;
  return async (page, title) => {
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

/** Instead of axe's source, half a megabyte that AxeBuilder would run twice each time, in a page that has it already. */
const NO_SOURCE = '0';

/** Adds the violations to `findings` and returns how many rules passed. */
export async function axe(page: Page, where: string, findings: string[]): Promise<number> {
  const isThere = (await page.evaluate('typeof axe')) === 'object';
  const builder = new AxeBuilder({ page, ...(isThere ? { axeSource: NO_SOURCE } : {}) });
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
