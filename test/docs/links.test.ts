import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { deadLinks, linksOf } from './support/links.ts';
import { readMarkdown } from './support/markdown.ts';
import { PAGES, ROOT } from './support/pages.ts';

describe('links', () => {
  it.each(PAGES)('in $file lead to existing targets', (page) => {
    expect(deadLinks(page, PAGES, ROOT)).toEqual([]);
  });

  it('lead from an index to every page in docs', () => {
    const listed = PAGES.filter(({ file }) => /^docs\/(?:\w+\/)*README\.md$/.test(file)).flatMap((index) =>
      [...linksOf(index)].map(({ target }) => join(dirname(index.file), target.replace(/#.*/, ''))),
    );
    const pages = PAGES.map(({ file }) => file).filter((file) => file.startsWith('docs/') && file !== 'docs/README.md');
    expect(pages.length).toBeGreaterThan(40);
    expect(pages.filter((file) => !listed.includes(file))).toEqual([]);
  });

  it('are found in text, lists, tables and HTML, but not in code', () => {
    const page = readMarkdown(
      'docs/made-up.md',
      [
        '# A title, with `code` and “quotes”',
        '[here](#a-title-with-code-and-quotes) [gone](gone.md) | [no heading](quickstart.md#gone) |',
        '- [out](../../other) <img src="gone.png"> `[code](gone.md)` [web](https://example.com/gone)',
        '```text',
        '[code](gone.md)',
        '```',
        '[one]: gone-too.md',
      ].join('\n'),
    );
    expect(deadLinks(page, PAGES, ROOT).map((line) => line.split(/[;,]/)[0])).toEqual([
      'docs/made-up.md:2: gone.md leads to docs/gone.md',
      'docs/made-up.md:2: docs/quickstart.md has no heading #gone',
      'docs/made-up.md:3: ../../other leads out of the project',
      'docs/made-up.md:3: gone.png leads to docs/gone.png',
      'docs/made-up.md:7: gone-too.md leads to docs/gone-too.md',
    ]);
  });
});
