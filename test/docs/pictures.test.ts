import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { browserPresent, launchChromium } from '../support/chromium.ts';
import { architectureSvg } from '../tooling/pictures/architecture.ts';
import { anHourAgo } from '../tooling/pictures/life.ts';
import { pageShots, wordsIn } from '../tooling/pictures/page-shots.ts';
import { SCHEMES } from '../tooling/pictures/palette.ts';
import { recordScreens, withDemo } from '../tooling/pictures/screens.ts';
import { sequenceSvg } from '../tooling/pictures/sequence.ts';
import { SEQUENCES } from '../tooling/pictures/sequences.ts';
import { linksOf } from './support/links.ts';
import { PAGES, ROOT } from './support/pages.ts';

const FOLDER = join(ROOT, 'docs/images');
const FILES = readdirSync(FOLDER);
const ARTEFACTS = join(ROOT, 'test/artefacts/pictures');
const NAMED = PAGES.flatMap((page) =>
  [...linksOf(page)].map(({ target }) => /^docs\/images\/(.+)$/.exec(join(dirname(page.file), target))?.[1]),
).filter((name) => name !== undefined);
/** Every picture in HTML, with the page that shows it. */
const PICTURES = PAGES.flatMap(({ file, prose }) => {
  const text = prose.map((line) => line.text).join('\n');
  return [...text.matchAll(/<picture>[\s\S]*?<\/picture>/g)].map(([html]) => ({ file, html }));
});

/** The first bytes of each format. */
const FORMATS: Readonly<Record<string, RegExp>> = {
  svg: /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" /,
  png: /^.PNG\r\n/,
  webp: /^RIFF....WEBPVP8X/s,
};

/** The largest size of one picture, and of all: they are in every clone. */
const MOST_BYTES = 500 * 1024;
const MOST_BYTES_OF_ALL = 1536 * 1024;

describe('docs/images', () => {
  it('contains exactly what the pages show, in 1.5 MiB', () => {
    expect(FILES.length).toBeGreaterThan(4);
    expect([...new Set(NAMED)].sort()).toEqual(FILES.toSorted());
    const bytes = FILES.reduce((sum, name) => sum + statSync(join(FOLDER, name)).size, 0);
    expect(bytes).toBeLessThan(MOST_BYTES_OF_ALL);
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

  it.each(SCHEMES)('has the sequences as `npm run pictures` draws them, in %s', (scheme) => {
    for (const sequence of SEQUENCES) {
      expect(readFileSync(join(FOLDER, `${sequence.name}-${scheme}.svg`), 'utf8')).toBe(sequenceSvg(sequence, scheme));
    }
  });

  it.each(SEQUENCES)('tells $name in words, and in a list with a number for each arrow', (sequence) => {
    const page = readFileSync(join(ROOT, sequence.page), 'utf8');
    const below = page.split(`images/${sequence.name}-light.svg`)[1]?.split('\n## ')[0] ?? '';
    expect(below).toContain(`alt="${sequence.description}"`);
    const numbers = [...below.matchAll(/^(\d+)\. /gm)].map(([, number]) => Number(number));
    expect(numbers).toEqual(sequence.steps.map((_, at) => at + 1));
  });

  it('is shown with a description, in the reader’s colour scheme', () => {
    expect(PICTURES.length).toBeGreaterThan(6);
    const tags = PICTURES.flatMap(({ html }) => html.match(/<img [^>]*>/g) ?? []);
    for (const tag of tags) expect(tag).toMatch(/ alt="[^"]{20,}"/);
    for (const name of FILES.filter((file) => file.includes('-dark.'))) {
      const shown = PICTURES.filter(({ html }) => html.includes(`/${name}"`));
      expect(shown.length, name).toBeGreaterThan(0);
      for (const { html } of shown) {
        expect(html).toMatch(new RegExp(`media="\\(prefers-color-scheme: dark\\)" srcset="[./a-z]*images/${name}"`));
        expect(html).toMatch(new RegExp(`src="[./a-z]*images/${name.replace('-dark.', '-light.')}"`));
      }
    }
  });

  it.skipIf(!browserPresent())(
    'shows pages whose text has not changed since the images were made',
    async () => {
      const taken: unknown = JSON.parse(readFileSync(join(ROOT, 'test/tooling/pictures/words.json'), 'utf8'));
      const browser = await launchChromium();
      try {
        const screens = await withDemo((demo) => recordScreens(browser, demo));
        const shots = await anHourAgo((pass) => withDemo((demo) => pageShots(browser, demo, pass)));
        mkdirSync(ARTEFACTS, { recursive: true });
        for (const { name, png } of shots) {
          for (const scheme of SCHEMES) writeFileSync(join(ARTEFACTS, `${name}-${scheme}.png`), png[scheme]);
        }
        expect(wordsIn(screens, shots), 'stale: run `npm run pictures`').toEqual(taken);
      } finally {
        await browser.close();
      }
    },
    180_000,
  );
});
