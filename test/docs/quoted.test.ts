import { describe, expect, it } from 'vitest';
import { PAGES } from './support/pages.ts';
import { isSaid, quotedIn } from './support/quoted.ts';

describe('what a page quotes (> text)', () => {
  it.each(PAGES.filter((page) => quotedIn(page).length > 0))('the program says: $file', (page) => {
    const wrong = quotedIn(page).filter(({ text }) => !isSaid(text));
    expect(wrong.map(({ line, text }) => `${page.file}:${line}: nothing in src says “${text}”`)).toEqual([]);
  });

  it('is looked for in the sources, with what is filled in left open', () => {
    expect(isSaid('The store … is in use by another coursegate (…):')).toBe(true);
    expect(isSaid('the access token is not valid, or no longer')).toBe(true);
    expect(isSaid('The sign-in at … that your app worked with is over. Connect the app again.')).toBe(true);
    expect(isSaid('The store … is used by another coursegate')).toBe(false);
    expect(isSaid('the access token … is not valid, or no longer')).toBe(false);
    expect(isSaid('…')).toBe(false);
  });

  it('is a good deal of the page on troubles', () => {
    const page = PAGES.find(({ file }) => file === 'docs/troubleshooting.md');
    expect(page === undefined ? 0 : quotedIn(page).length).toBeGreaterThan(30);
  });
});
