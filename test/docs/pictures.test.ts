import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { browserPresent, launchChromium } from '../support/chromium.ts';
import { architectureSvg, SCHEMES } from '../tooling/pictures/architecture.ts';
import { recordScreens, withDemo } from '../tooling/pictures/screens.ts';
import { linksOf } from './support/links.ts';
import { PAGES, ROOT } from './support/pages.ts';

const FOLDER = join(ROOT, 'docs/images');
const FILES = readdirSync(FOLDER);
const README = PAGES.filter(({ file }) => file === 'README.md');
const NAMED = README.flatMap((page) => [...linksOf(page)])
  .map(({ target }) => target)
  .filter((target) => target.startsWith('docs/images/'))
  .map((target) => target.replace('docs/images/', ''));

/** The first bytes of each format. */
const FORMATS: Readonly<Record<string, RegExp>> = {
  svg: /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" /,
  png: /^.PNG\r\n/,
  webp: /^RIFF....WEBPVP8X/s,
};

/** The largest size of one picture; the README loads four. */
const MOST_BYTES = 500 * 1024;

describe('docs/images', () => {
  it('contains exactly what README.md shows', () => {
    expect(FILES.length).toBeGreaterThan(4);
    expect([...new Set(NAMED)].sort()).toEqual(FILES.toSorted());
  });

  it.each(FILES)('has a small image of the right format in %s', (name) => {
    const bytes = readFileSync(join(FOLDER, name));
    const format = FORMATS[name.split('.').at(-1) ?? ''];
    expect(bytes.subarray(0, 64).toString('latin1')).toMatch(format ?? /^(?!)/);
    expect(bytes.length).toBeGreaterThan(1024);
    expect(bytes.length).toBeLessThan(MOST_BYTES);
  });

  it.each(SCHEMES)('has the architecture as `npm run pictures` draws it, in %s', (scheme) => {
    expect(readFileSync(join(FOLDER, `architecture-${scheme}.svg`), 'utf8')).toBe(architectureSvg(scheme));
  });

  it('is shown with a description, in the reader’s colour scheme', () => {
    const text = README.flatMap(({ prose }) => prose.map((line) => line.text)).join('\n');
    for (const [tag] of text.matchAll(/<img [^>]*>/g)) expect(tag).toMatch(/ alt="[^"]{20,}"/);
    const pictures = [...text.matchAll(/<picture>[\s\S]*?<\/picture>/g)].map(([one]) => one);
    expect(pictures.length).toBeGreaterThan(2);
    for (const name of FILES.filter((file) => file.includes('-dark.'))) {
      const picture = pictures.find((one) => one.includes(name)) ?? '';
      expect(picture).toMatch(new RegExp(`media="\\(prefers-color-scheme: dark\\)" srcset="docs/images/${name}"`));
      expect(picture).toContain(`src="docs/images/${name.replace('-dark.', '-light.')}"`);
    }
  });

  it.skipIf(!browserPresent())(
    'shows pages whose text has not changed since the images were made',
    async () => {
      const taken: unknown = JSON.parse(readFileSync(join(ROOT, 'test/tooling/pictures/words.json'), 'utf8'));
      const browser = await launchChromium();
      try {
        const screens = await withDemo((demo) => recordScreens(browser, demo));
        const now = screens.map(({ caption, words }) => ({ caption, words }));
        expect(now, 'stale: run `npm run pictures`').toEqual(taken);
      } finally {
        await browser.close();
      }
    },
    120_000,
  );
});
