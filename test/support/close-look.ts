import type { Browser } from 'playwright-core';
import { axe, type Look, newFolder } from './album.ts';
import { contactSheets, type Shot } from './contact-sheet.ts';
import { keyboardFindings } from './keyboard.ts';

/** What the pages speak. English comes last, so that a story goes on in English. */
const LANGUAGES = ['es', 'de', 'fr', 'ar', 'en'] as const;

/**
 * 320 px is the narrowest width that WCAG asks for (success criterion 1.4.10, the same as 400 % zoom); the others are a
 * phone and a desktop. Each in both colour schemes.
 */
const SCREENS = ([320, 390, 1280] as const).flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })),
);

/** `npm run test:pages`: each page in each language on each screen. */
const EVERYTHING = process.env.COURSEGATE_PAGES === 'all';

const OPEN_ALL = 'for (const one of document.querySelectorAll("details")) one.open = true';

export interface CloseLook {
  readonly look: Look;
  readonly findings: string[];
  readonly count: { pages: number; screens: number; rules: number };
  /** Writes a contact sheet of all screenshots, one for each language where there are many. */
  sheets(browser: Browser): Promise<readonly string[]>;
}

/**
 * Checks a page in every language, by loading it again with another Accept-Language (the browser context must have no
 * locale of its own): WCAG 2.2 AA as far as axe can, that
 * nothing scrolls sideways, and that the Tab key reaches everything. By default, each page is seen in each language and
 * on each screen at least once; with EVERYTHING, in each language on each screen. Screenshots and contact sheets are left
 * in the folder `name` of test/artefacts.
 */
export function closeLook(name: string): CloseLook {
  const folder = newFolder(name);
  const findings: string[] = [];
  const count = { pages: 0, screens: 0, rules: 0 };
  const shots: (Shot & { readonly language: string; readonly screen: number })[] = [];

  const look: Look = async (page, title) => {
    const turn = count.pages;
    count.pages += 1;
    for (const [at, language] of LANGUAGES.entries()) {
      await page.setExtraHTTPHeaders({ 'accept-language': language });
      await page.reload();
      const html = page.locator('html');
      const shown = `${await html.getAttribute('lang')} ${await html.getAttribute('dir')}`;
      if (shown !== `${language} ${language === 'ar' ? 'rtl' : 'ltr'}`) {
        findings.push(`${title}: ${shown} instead of ${language}`);
      }
      const screens = SCREENS.filter((_, screen) => EVERYTHING || (screen + turn) % LANGUAGES.length === at);
      for (const { width, colorScheme } of screens) {
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme });
        const where = `${title}.${language}.${width}.${colorScheme}`;
        const file = `${folder}/${where}.png`;
        await page.screenshot({ path: file, fullPage: true });
        await page.evaluate(OPEN_ALL);
        const screen = SCREENS.findIndex((one) => one.width === width && one.colorScheme === colorScheme);
        shots.push({ row: title, column: `${language} ${width} ${colorScheme}`, file, width, language, screen });
        const scrolled = await page.evaluate('document.documentElement.scrollWidth');
        if (scrolled !== width) findings.push(`${where}: ${scrolled} px wide`);
        count.rules += await axe(page, where, findings);
        count.screens += 1;
      }
      if (EVERYTHING || turn % LANGUAGES.length === at) {
        findings.push(...(await keyboardFindings(page)).map((found) => `${title}.${language}: ${found}`));
      }
    }
  };

  return {
    look,
    findings,
    count,
    async sheets(browser) {
      if (!EVERYTHING) {
        const byScreen = shots.toSorted((a, b) => a.screen - b.screen);
        return contactSheets(browser, byScreen, `${folder}/sheet`);
      }
      const written: string[] = [];
      for (const language of LANGUAGES) {
        const own = shots.filter((shot) => shot.language === language);
        written.push(...(await contactSheets(browser, own, `${folder}/sheet-${language}`)));
      }
      return written;
    },
  };
}
