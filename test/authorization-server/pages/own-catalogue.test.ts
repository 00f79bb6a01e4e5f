import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { load, mistakes, SMALL } from '../../config/fixture.ts';
import { startWorld, type World } from '../../support/world.ts';

const spoken = (list: string) => `${SMALL}pages:\n  languages: ${list}\n`;
const catalogue = (phrases: Readonly<Record<string, unknown>>) => JSON.stringify(phrases, null, '\t');

/** The mistakes in a configuration whose pages speak English and have a catalogue of this name. */
const found = (name: string, phrases: Readonly<Record<string, unknown>>) =>
  mistakes(spoken(`[en, ${name}]`), { files: { [name]: catalogue(phrases) } });

describe('a catalogue of the operator', () => {
  it.each<[string, Readonly<Record<string, unknown>>, string]>([
    [
      'an unknown phrase',
      { 'apps.titel': 'X' },
      '3:2  ["apps.titel"]: there is no phrase of this name (did you mean "apps.title"?)',
    ],
    ['a phrase that is not text', { 'apps.title': ['X'] }, '3:16  ["apps.title"]: must be text in quotes'],
    ['an empty phrase', { 'apps.title': ' ' }, '3:16  ["apps.title"]: must be text in quotes'],
    [
      'an unknown placeholder',
      { 'apps.title': 'Apps {of}' },
      '3:16  ["apps.title"]: nothing is known as {of} in this phrase',
    ],
    ['a missing placeholder', { 'consent.proved': 'Provado' }, '3:20  ["consent.proved"]: must contain {host}'],
    [
      'a plural form of a phrase without a number',
      { 'apps.heading_one': 'X' },
      '3:2  ["apps.heading_one"]: there is no phrase of this name (did you mean "apps.heading"?)',
    ],
    ['markup as a name', { '<b>': 'X' }, '3:2  ["<b>"]: there is no phrase of this name'],
  ])('is refused with its line for %s', async (_name, phrases, message) => {
    expect(await found('pt.json', { direction: 'ltr', ...phrases })).toEqual([`pt.json:${message}`]);
  });

  it.each<[string, Readonly<Record<string, unknown>>, string]>([
    ['no direction', { help: 'Ajuda' }, 'pt.json:1:1  direction: is missing (ltr or rtl)'],
    ['another direction', { direction: 'up' }, 'pt.json:2:15  direction: must be ltr or rtl'],
  ])('is refused for %s', async (_name, phrases, message) => {
    expect(await found('pt.json', phrases)).toEqual([message]);
  });

  it.each<[string, string, string]>([
    [
      '[en, pt_BR.json]',
      '{}',
      'gate.yaml:15:19  pages.languages[1]: pt_BR.json: the file must be named for its language, such as pt.json or pt-BR.json (BCP 47)',
    ],
    [
      '[en, nowhere/pt.json]',
      '',
      'gate.yaml:15:19  pages.languages[1]: cannot read nowhere/pt.json: there is no such file',
    ],
    ['[en, pt.json]', '["X"]', 'pt.json:1:1  must be a mapping of keys to values'],
    ['[en, pt.json]', '{ "help": "X"', 'pt.json:1:14  Flow map must end with a }'],
    [
      '[en, pt.json]',
      '{ "direction": "ltr", "help": "X", "help": "Y" }',
      'pt.json:1:36  help: is a duplicate key (first on line 1)',
    ],
    [
      '[en, pt.json]',
      ' '.repeat(262_145),
      'gate.yaml:15:19  pages.languages[1]: pt.json has 262145 bytes; at most 262144 (256 KiB) are allowed',
    ],
    [
      '[en, en.json]',
      '{}',
      'gate.yaml:15:19  pages.languages[1]: must name each language once: en is already in the list',
    ],
    [
      '[es, pt]',
      '',
      'gate.yaml:15:19  pages.languages[1]: must be one of en, es, de, fr, ar, or the path of a catalogue such as lang/pt-BR.json',
    ],
  ])('is refused: %s with %#', async (list, text, message) => {
    const files = Object.fromEntries(['pt_BR.json', 'pt.json', 'en.json'].map((name) => [name, text]));
    expect(await mistakes(spoken(list), { files })).toEqual([message]);
  });

  it('is warned about with the phrases that it lacks, and the plural forms of its language', async () => {
    const { warnings } = await load(spoken('[en, pl.json]'), {
      files: { 'pl.json': catalogue({ direction: 'ltr', help: 'Pomoc' }) },
    });
    const [warning = ''] = warnings
      .map(({ line, message }) => `${line}: ${message}`)
      .filter((text) => /pl\.json/.test(text));
    expect(warning).toMatch(
      /^15: pl\.json lacks phrases, which are shown in English: privacy, terms, consent\.title, .* and \d+ more$/,
    );
    expect(warning).not.toContain('help');
  });

  it('can reword a few phrases of a built-in language without a warning', async () => {
    const { warnings, languages } = await load(spoken('[es-MX.json, en.json]'), {
      files: { 'es-MX.json': '{ "apps.title": "Apps" }', 'en.json': '{ "apps.title": "Your apps" }' },
    });
    expect(warnings.filter(({ message }) => /lacks/.test(message))).toEqual([]);
    expect(languages.map(({ tag }) => tag)).toEqual(['es-MX', 'en']);
  });
});

describe('pages in a language of the operator', () => {
  let world: World;
  let file: string;
  beforeAll(async () => {
    file = join(mkdtempSync(join(tmpdir(), 'coursegate-catalogue-')), 'he.json');
    write('המכשול <b>{school}</b> &amp;');
    world = await startWorld({ profile: 'A', overrides: { pages: { languages: ['en', file] } } });
  });
  afterAll(async () => {
    await world.close();
    rmSync(dirname(file), { recursive: true });
  });

  function write(heading: string): void {
    writeFileSync(file, catalogue({ direction: 'rtl', 'refusal.heading': heading }));
  }

  const page = async (language: string) => {
    const answer = await fetch(`${world.origin}/oauth/authorize?client_id=nobody`, {
      headers: { 'accept-language': language },
    });
    return { language: answer.headers.get('content-language'), text: await answer.text() };
  };

  it('show its phrases as text, and English for those that it lacks', async () => {
    const { language, text } = await page('he-IL, en;q=0.5');
    expect(language).toBe('he');
    expect(text).toContain('<html lang="he" dir="rtl">');
    expect(text).toContain('<h1>המכשול &lt;b&gt;<bdi>Harbour Lane School</bdi>&lt;/b&gt; &amp;amp;</h1>');
    expect(text).toContain('Details for support');
    expect((await page('en')).text).toContain('<h1>This app cannot be connected</h1>');
  });

  it('are announced to apps', async () => {
    const metadata = await fetch(`${world.origin}/.well-known/openid-configuration`);
    expect(((await metadata.json()) as { ui_locales_supported: string[] }).ui_locales_supported).toEqual(['en', 'he']);
  });

  it('show its new phrases after a reload, which names the setting', async () => {
    write('תקלה');
    const outcome = await world.reload({ pages: { languages: ['en', file] } });
    expect(outcome).toMatchObject({ kind: 'taken', keys: ['pages.languages'] });
    expect((await page('he')).text).toContain('<h1>תקלה</h1>');
  });
});
