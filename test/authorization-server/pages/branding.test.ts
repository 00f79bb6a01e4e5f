import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { contrast, inkOn, readableOn } from '../../../src/http/colour.ts';
import { palette } from '../../../src/http/palette.ts';
import { folderWith, load, mistakes, SMALL } from '../../config/fixture.ts';

const pages = (...lines: string[]) => `${SMALL}pages:\n${lines.map((line) => `  ${line}\n`).join('')}`;
const LOGO = '<svg xmlns="http://www.w3.org/2000/svg"/>';

describe('the colour of the pages', () => {
  it('is refused with a suggestion when it is too light to read on white', async () => {
    expect(await mistakes(pages('colour: "#ffcc00"'))).toEqual([
      'gate.yaml:15:11  pages.colour: is too light to read on white: its contrast is 1.5:1, but 4.5:1 is required (try "#8f7200")',
    ]);
    expect((await load(pages('colour: "#8f7200"'))).config.pages.colour).toBe('#8f7200');
  });

  it.each(['red', '"#fff"', '"#12345g"', '"rgb(0,0,0)"', '"#000000; } *{display:none"'])(
    'must be a colour, and not %s',
    async (colour) => {
      expect(await mistakes(pages(`colour: ${colour}`))).toEqual([
        'gate.yaml:15:11  pages.colour: must be a colour such as "#0b57d0", in quotes',
      ]);
    },
  );

  const colour = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);

  it('has a suggestion that is readable and accepted', () => {
    fc.assert(
      fc.property(colour, (given) => {
        const suggested = readableOn(given, '#ffffff');
        expect(contrast(suggested, '#ffffff')).toBeGreaterThanOrEqual(4.5);
        expect(readableOn(suggested, '#ffffff')).toBe(suggested);
      }),
    );
  });

  it('is readable, and so is text on it, in light and dark mode', () => {
    fc.assert(
      fc.property(colour, (given) => {
        const sheet = palette(readableOn(given, '#ffffff'));
        const schemes = [...sheet.matchAll(/--paper: (#\w+)[^}]*--accent: (#\w+); --on-accent: (#\w+)/g)];
        expect(schemes).toHaveLength(2);
        for (const [, paper = '', accent = '', onAccent = ''] of schemes) {
          expect(contrast(accent, paper)).toBeGreaterThanOrEqual(4.5);
          expect(contrast(onAccent, accent)).toBeGreaterThanOrEqual(4.5);
        }
      }),
    );
  });

  it('has black or white text on it, whichever has more contrast', () => {
    expect(inkOn('#0b57d0')).toBe('#ffffff');
    expect(inkOn('#a8c7fa')).toBe('#000000');
    expect(contrast('#ffffff', '#000000')).toBeCloseTo(21);
  });
});

describe('the logo', () => {
  const withLogo = (text: string) => load(pages('logo: ./logo.svg'), { files: { 'logo.svg': text } });

  it.each([
    LOGO,
    `\uFEFF<?xml version="1.0"?>\n<!-- a --><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x">\n${LOGO}`,
  ])('can be an SVG: %s', async (text) => {
    expect((await withLogo(text)).logo?.type).toBe('image/svg+xml');
  });

  it('can be a PNG, whatever its file name', async () => {
    const folder = await folderWith({ 'gate.yaml': pages('logo: ./picture') });
    writeFileSync(join(folder, 'picture'), Buffer.from('89504e470d0a1a0a00', 'hex'));
    expect((await loadConfig({ environment: {}, file: join(folder, 'gate.yaml') })).logo?.type).toBe('image/png');
  });

  it.each([
    ['<html><svg></svg></html>', './logo.svg is neither SVG nor PNG'],
    ['GIF89a', './logo.svg is neither SVG nor PNG'],
    ['', './logo.svg is neither SVG nor PNG'],
    [LOGO + ' '.repeat(65_536), './logo.svg has 65577 bytes; at most 65536 (64 KiB) are allowed'],
  ])('is refused if it is neither, or too large (case %#)', async (text, message) => {
    expect(await mistakes(pages('logo: ./logo.svg'), { files: { 'logo.svg': text } })).toEqual([
      `gate.yaml:15:9  pages.logo: ${message}`,
    ]);
  });

  it('is named when the file does not exist', async () => {
    expect(await mistakes(pages('logo: ./nowhere.svg'))).toEqual([
      'gate.yaml:15:9  pages.logo: cannot read ./nowhere.svg: there is no such file',
    ]);
  });

  it('is text, not a mapping', async () => {
    expect(await mistakes(pages('logo: { file: ./logo.svg }'), { files: { 'logo.svg': LOGO } })).toEqual([
      'gate.yaml:15:9  pages.logo: must be text, not a mapping',
    ]);
  });

  it('is optional', async () => {
    const { logo, config } = await load(SMALL);
    expect(logo).toBeUndefined();
    expect(config.pages).toMatchObject({ colour: '#0b57d0', languages: ['en', 'es', 'de', 'fr', 'ar'] });
  });
});

describe('another setting of the pages', () => {
  it.each([
    [
      'languages: [en, pt]',
      '15:19  pages.languages[1]: must be one of en, es, de, fr, ar, or the path of a catalogue such as lang/pt-BR.json',
    ],
    ['languages: []', '15:14  pages.languages: must not be empty'],
    ['languages: [es, es]', '15:19  pages.languages[1]: must name each language once: es is already in the list'],
    [
      'support: "javascript:alert(1)"',
      '15:12  pages.support: must be a mailto: address such as mailto:help@school.example, or an https URL',
    ],
    [
      'support: "http://school.example"',
      '15:12  pages.support: must be a mailto: address such as mailto:help@school.example, or an https URL',
    ],
    [
      'support: "mailto:help@school.example?body=spam"',
      '15:12  pages.support: must be a mailto: address such as mailto:help@school.example, or an https URL',
    ],
    [
      'support: "https://a@school.example"',
      '15:12  pages.support: must be a mailto: address such as mailto:help@school.example, or an https URL',
    ],
    ['policyUri: "http://school.example"', '15:14  pages.policyUri: must be an https URL'],
    ['tosUri: "mailto:help@school.example"', '15:11  pages.tosUri: must be an https URL'],
    ['color: "#0b57d0"', '15:3  pages.color: unknown key "color" (did you mean "colour"?)'],
  ])('is refused: %s', async (line, message) => {
    expect(await mistakes(pages(line))).toEqual([`gate.yaml:${message}`]);
  });

  it.each(['mailto:help@school.example', 'https://school.example', 'https://school.example/help?from=gate'])(
    'is accepted for support: %s',
    async (support) => {
      expect((await load(pages(`support: "${support}"`))).config.pages.support).toBe(support);
    },
  );
});

describe('the title of a scope', () => {
  const scopes = (title: string) => `${SMALL}scopes:\n  notes:read: { kind: read, title: ${title} }\n`;

  it.each([
    ['See notes', 'See notes'],
    ['{ en: See notes }', { en: 'See notes' }],
    ['{ es: Ver, en: See }', { es: 'Ver', en: 'See' }],
    ['{ pt-BR: Ver, zh-Hant: 看 }', { 'pt-BR': 'Ver', 'zh-Hant': '看' }],
  ])('can be %s', async (text, title) => {
    expect((await load(scopes(text))).config.scopes['notes:read']?.title).toEqual(title);
  });

  it.each(['{}', '7', '[a]', '{ french: Voir }', '{ en: "" }'])('cannot be %s', async (title) => {
    expect(await mistakes(scopes(title))).not.toEqual([]);
  });

  it('can be overridden in one language', async () => {
    const { config } = await load(`${SMALL}scopes:\n  profile: { title: { en: Read your name } }\n`);
    expect(config.scopes.profile?.title).toMatchObject({ en: 'Read your name', es: 'Ver tu nombre' });
  });
});
