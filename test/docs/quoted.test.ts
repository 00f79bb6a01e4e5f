import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PAGES, ROOT } from './support/pages.ts';
import { isSaid, quotedIn } from './support/quoted.ts';

describe('the messages that a page quotes (> text)', () => {
  it.each(PAGES.filter((page) => quotedIn(page).length > 0))('exist in src: $file', (page) => {
    const wrong = quotedIn(page).filter(({ text }) => !isSaid(text));
    expect(wrong.map(({ line, text }) => `${page.file}:${line}: nothing in src says “${text}”`)).toEqual([]);
  });

  it('are matched against the sources, with placeholders', () => {
    expect(isSaid('The store … is in use by another coursegate (…):')).toBe(true);
    expect(isSaid('the access token is invalid, expired or revoked')).toBe(true);
    expect(isSaid('Don’t be misled by the name: this app is not part of … and does not speak for it.')).toBe(true);
    expect(isSaid('The store … is used by another coursegate')).toBe(false);
    expect(isSaid('the access token … is invalid, expired or revoked')).toBe(false);
    expect(isSaid('…')).toBe(false);
  });

  it.each([
    [
      'en',
      'In English',
      ['consent.approve', 'consent.cancel', 'apps.title', 'apps.confirm', 'approval.approve', 'approval.deny'],
    ],
    [
      'es',
      'En español',
      ['consent.approve', 'consent.cancel', 'apps.title', 'apps.confirm', 'approval.approve', 'approval.deny'],
    ],
  ])('include the text of the pages in the guide for members, in %s', (language, heading, keys) => {
    const file = join(ROOT, `src/config/i18n/${language}.json`);
    const words = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
    const page = readFileSync(join(ROOT, 'docs/for-members.md'), 'utf8');
    const section = page.split(/^## /m).find((one) => one.startsWith(heading)) ?? '';
    expect(keys.map((key) => words[key] ?? key).filter((word) => !section.includes(word))).toEqual([]);
    // The text explains the first words of the warning on the consent page.
    expect(section).toContain(words['consent.unchecked']?.split(/[:.]/, 1)[0]);
  });

  it('make up much of the troubleshooting page', () => {
    const page = PAGES.find(({ file }) => file === 'docs/troubleshooting.md');
    expect(page === undefined ? 0 : quotedIn(page).length).toBeGreaterThan(30);
  });
});
