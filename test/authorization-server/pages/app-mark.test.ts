import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appMark } from '../../../src/authorization-server/pages/app-mark.ts';
import { contrast } from '../../../src/http/colour.ts';

const letterOf = (mark: string) => /<text[^>]*>([^<]*)<\/text>/.exec(mark)?.[1];
const fillsOf = (mark: string) => [...mark.matchAll(/fill="(#\w{6})"/g)].map(([, fill]) => fill ?? '');

describe('the mark of an app', () => {
  it.each([
    ['Study Buddy', 'S'],
    ['claude', 'C'],
    ['  “Ärzte-Kurs”', 'Ä'],
    ['E\u0301cole', 'E\u0301'],
    ['ßtudy', 'ß'],
    ['דפי לימוד', 'ד'],
    ['7 days', '7'],
    ['𝒜pp', '𝒜'],
    ['🎓🎓', '?'],
    ['<script>', 'S'],
    ['', '?'],
    [undefined, '?'],
  ])('of %j is %s', (name, letter) => {
    expect(letterOf(appMark(name).text)).toBe(letter);
  });

  it('is readable, the same each time, and needs no style, script or other file', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (name) => {
        const mark = appMark(name).text;
        expect(appMark(name).text).toBe(mark);
        const [ground = '', letter = ''] = fillsOf(mark);
        expect(contrast(letter, ground)).toBeGreaterThanOrEqual(4.5);
        expect(mark).toMatch(
          /^<svg [^<>]*aria-hidden="true"[^<>]*><rect [^<>]*\/><text [^<>]*>[^<>]{1,12}<\/text><\/svg>$/,
        );
        expect(mark).not.toMatch(/style|href|url\(|\son\w+=/);
      }),
    );
  });

  it('uses every colour of its palette', () => {
    const colours = Array.from({ length: 300 }, (_, index) => fillsOf(appMark(`App ${index}`).text)[0]);
    expect(new Set(colours).size).toBe(12);
  });
});
