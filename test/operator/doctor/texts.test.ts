import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { codePath } from '../../../src/installation.ts';
import { BACKEND_CHECKS } from '../../../src/operator/doctor/backend/checks/checks.ts';
import { CHECKS } from '../../../src/operator/doctor/checks/checks.ts';
import { LISTING_CHECKS } from '../../../src/operator/doctor/directory/checks/checks.ts';
import { GATEWAY_CHECKS } from '../../../src/operator/doctor/gateway/checks/checks.ts';
import { checkTexts, themes } from '../../../src/operator/doctor/texts.ts';
import { readTexts } from '../../../src/operator/texts.ts';

const TABLES = {
  deployment: { table: CHECKS, reference: /RFC \d+ sections? |MCP|Fetch section |OAuth/, title: /^[A-Z].{10,}[^.]$/ },
  backend: { table: BACKEND_CHECKS, reference: /RFC \d+|OpenID|docs\//, title: /^[A-Za-z].{10,}[^.]$/ },
  listing: { table: LISTING_CHECKS, reference: /Claude .+|OpenAI .+/, title: /^[A-Z].{10,}[^.]$/ },
  gateway: { table: GATEWAY_CHECKS, reference: /RFC \d+|GHSA-|CVE-|docs\/doctor\.md/, title: /^[A-Z].{10,}[^.]$/ },
};
const IDS = Object.values(TABLES).flatMap(({ table }) => table.map(({ id }) => id));
const themeOf = (id: string) => id.split('.')[0] ?? '';

describe('the texts of the checks', () => {
  it.each(Object.entries(TABLES))('are a title, a reference and a fix for each check of a %s', (_name, one) => {
    for (const { id } of one.table) {
      const { title = '', reference = '', fix = '' } = checkTexts().get(id) ?? {};
      expect(id).toMatch(/^[a-z]+\.[a-z0-9-]+$/);
      expect(title, id).toMatch(one.title);
      expect(reference, id).toMatch(one.reference);
      expect(fix, id).toMatch(/^[A-Z].{20,}\.$/);
    }
  });

  it('belong to checks that exist, and each ID to one check', () => {
    expect([...checkTexts().keys()].toSorted()).toEqual(IDS.toSorted());
    expect(new Set(IDS).size).toBe(IDS.length);
  });

  it('have a heading for each theme, and no other', () => {
    expect([...themes().keys()].toSorted()).toEqual([...new Set(IDS.map(themeOf))].toSorted());
  });

  it('have no value to fill in: a check puts values into what it has seen', () => {
    for (const [id, texts] of checkTexts()) expect(JSON.stringify(texts), id).not.toMatch(/\{[a-z]\w*\}/i);
  });
});

describe('a file of texts', () => {
  const read = (...files: readonly string[]) => {
    const folder = mkdtempSync(join(tmpdir(), 'texts-'));
    try {
      const paths = files.map((text, at) => {
        writeFileSync(join(folder, `${at}.yaml`), text);
        return relative(codePath('.'), join(folder, `${at}.yaml`));
      });
      return readTexts(paths, ['title', 'fix']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  };

  it('is read with others', () => {
    const texts = read('a.b: { title: A, fix: Change it. }', 'a.c:\n  title: C\n  fix: >-\n    Two\n    lines.\n');
    expect(Object.fromEntries(texts)).toEqual({
      'a.b': { title: 'A', fix: 'Change it.' },
      'a.c': { title: 'C', fix: 'Two lines.' },
    });
  });

  it.each([
    [
      'an ID of another file',
      ['a.b: { title: A, fix: B }', 'a.b: { title: A, fix: B }'],
      /1\.yaml: a\.b is in another/,
    ],
    ['a text that is missing', ['a.b: { title: A }'], /0\.yaml: a\.b must have title, fix, and nothing else/],
    ['a text too many', ['a.b: { title: A, fix: B, fixes: C }'], /a\.b must have title, fix, and nothing else/],
    ['a number', ['a.b: { title: A, fix: 7 }'], /a\.b must have title, fix/],
    ['a list', ['a.b: [A, B]'], /a\.b must have title, fix/],
    ['an ID alone', ['a.b:'], /a\.b must have title, fix/],
    ['more than 4 MiB', [`a.b: { title: ${'A'.repeat(5 * 1024 ** 2)}, fix: B }`], /more than 4 MiB/],
  ])('is refused with %s', (_what, files, says) => {
    expect(() => read(...files)).toThrow(says);
  });
});
