import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PAGES, ROOT } from './support/pages.ts';

const { prose = [] } = PAGES.find(({ file }) => file === 'docs/security.md') ?? {};

/** The rows that name a test: `file` › `title`. */
const NAMED = prose.flatMap(({ number, text }) => {
  const [, file, title] = /\| `(\S+\.test\.ts)` › `([^`]+)` \|$/.exec(text) ?? [];
  return file === undefined || title === undefined ? [] : [{ number, file, title }];
});

describe('docs/security.md', () => {
  it('names an existing test for each threat', () => {
    const from = prose.findIndex(({ text }) => text === '## Threats');
    const to = prose.findIndex(({ text }, at) => at > from && text.startsWith('## '));
    const rows = prose
      .slice(from, to)
      .filter(({ text }) => text.startsWith('| '))
      .slice(2);
    expect(rows.length).toBeGreaterThan(15);
    expect(NAMED.map(({ number }) => number)).toEqual(rows.map(({ number }) => number));
    const wrong = NAMED.filter(({ file, title }) => {
      const path = join(ROOT, 'test', file);
      if (!existsSync(path)) return true;
      const source = readFileSync(path, 'utf8');
      return !["'", '"', '`'].some((quote) => source.includes(quote + title + quote));
    });
    expect(wrong).toEqual([]);
  });
});
