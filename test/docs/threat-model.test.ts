import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PAGES, ROOT } from './support/pages.ts';

const { prose = [] } = PAGES.find(({ file }) => file === 'docs/threat-model.md') ?? {};

/** All attackers, by the heading of their table. Add a new section here. */
const ATTACKERS = [
  'A stranger on the internet',
  'An app that registered itself',
  'An app that a member approved, and that is malicious or stolen',
  'A member against another member',
  'An author whose text reaches a model',
  'A compromised or hostile backend',
  'The host of a client metadata document',
  "A page in the member's browser",
  "A script on the site's own pages",
  'Another process on the machine, or in the pod',
  'An attacker on the network between the web server and the gate',
  'A thief of the store, a backup or the logs',
  'Mistakes of the operator',
];

/** The cells of the rows in the table below a heading. */
function rowsOf(heading: string): string[][] {
  const from = prose.findIndex(({ text }) => text === `## ${heading}`);
  if (from === -1) return [];
  const to = prose.findIndex(({ text }, at) => at > from && text.startsWith('## '));
  return prose
    .slice(from, to === -1 ? undefined : to)
    .filter(({ text }) => text.startsWith('| '))
    .slice(2)
    .map(({ text }) =>
      text
        .slice(2, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
}

/** The titles that a cell names, by file. */
function named(cell: string): { file: string; titles: string[] }[] {
  return [...cell.matchAll(/`([^`\s]+\.ts)`((?: › `[^`]+`)+)/g)].map(([, file = '', titles = '']) => ({
    file,
    titles: [...titles.matchAll(/`([^`]+)`/g)].map(([, title = '']) => title),
  }));
}

describe('docs/threat-model.md', () => {
  it.each(ATTACKERS)('lists for “%s” what stops them, with existing tests', (heading) => {
    const rows = rowsOf(heading);
    expect(rows.length).toBeGreaterThan(2);
    const wrong = rows.flatMap(([attack = '', rule = '', test = '']) => {
      const tests = named(test);
      // Rows marked as out of scope need no test.
      if (tests.length === 0) return /^Out of scope: .{20}/.test(rule) ? [] : [`${attack}: no test`];
      return tests.flatMap(({ file, titles }) => {
        const path = join(ROOT, 'test', file);
        if (!existsSync(path)) return [`${attack}: test/${file} is not there`];
        const source = readFileSync(path, 'utf8');
        const has = (title: string) => ["'", '"', '`'].some((quote) => source.includes(quote + title + quote));
        return titles.filter((title) => !has(title)).map((title) => `${attack}: test/${file} has no “${title}”`);
      });
    });
    expect(wrong).toEqual([]);
  });

  it('has tables for exactly the listed attackers', () => {
    const headings = prose.filter(({ text }) => text.startsWith('## ')).map(({ text }) => text.slice(3));
    const others = ['What is protected', 'Trust boundaries', 'Out of scope'];
    expect(headings.filter((heading) => !others.includes(heading))).toEqual(ATTACKERS);
  });
});
