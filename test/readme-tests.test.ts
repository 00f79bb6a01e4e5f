import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, matchesGlob } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import manifest from '../package.json' with { type: 'json' };
import config from './vitest.config.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const TESTS = globSync('**/*.test.ts', { cwd: here('.'), exclude: ['**/node_modules'] });
/** The page of each folder of tests. `.` is the page of this folder. */
const PAGES = new Map(
  [...new Set(TESTS.map(folderOf))].map((folder) => [folder, readFileSync(here(`${folder}/README.md`), 'utf8')]),
);
const ALL = [...PAGES.values()].join('\n');

function folderOf(file: string): string {
  return dirname(file).split('/')[0] ?? '';
}

/** Every `file` › `title` › `title` of the tables. */
const NAMED = [...ALL.matchAll(/`([^`\s]+\.test\.ts)`((?: › `[^`]+`)*)/g)].map(([, file = '', titles = '']) => ({
  file,
  titles: [...titles.matchAll(/`([^`]+)`/g)].map(([, title = '']) => title),
}));

/** The numbers that the catalogue has. */
const CHECKS = [
  [1, 13],
  [20, 50],
  [60, 74],
  [80, 95],
  [100, 142],
  [150, 156],
  [160, 190],
  [200, 245],
  [250, 258],
  [260, 277],
  [280, 300],
  [310, 321],
  [330, 334],
] as const;

/** Of the other parts of the catalogue, what the tables speak of. Whoever adds a row that is to stay adds it here. */
const PROXY = [
  [1, 15],
  [20, 22],
  [30, 36],
  [40, 62],
  [80, 91],
  [94, 98],
  [101, 102],
  [104, 105],
  [107, 107],
  [120, 125],
  [130, 134],
  [141, 143],
  [145, 147],
  [149, 157],
  [160, 164],
] as const;
const FAULTS = [
  ...[1, 2, 4, 6, 7, 10, 11].map((number) => [number, number] as const),
  [20, 29],
  [30, 38],
  ...[40, 46, 51, 54, 55, 56, 57, 60, 61, 64, 70, 71, 72].map((number) => [number, number] as const),
] as const;

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);

describe('the test pages', () => {
  it('name every test file on the page of its folder', () => {
    const missing = TESTS.filter((file) => !PAGES.get(folderOf(file))?.includes(`\`${file}\``));
    expect(missing).toEqual([]);
    const linked = [...(PAGES.get('.') ?? '').matchAll(/^\| \[[\w-]+\]\(([\w-]+)\/README\.md\) \|/gm)].map(
      ([, to]) => to,
    );
    expect(linked.toSorted()).toEqual([...PAGES.keys()].filter((folder) => folder !== '.').toSorted());
  });

  it('start with a short one', () => {
    expect(Buffer.byteLength(PAGES.get('.') ?? '')).toBeLessThanOrEqual(8192);
  });

  it('are all run by npm test or npm run test:all, and none twice', () => {
    const [shared, alone, rest] = (config.test?.projects ?? []).map((project) =>
      TESTS.filter((file) => {
        const { include = [], exclude = [] } = (project as { test: { include?: string[]; exclude?: string[] } }).test;
        const matches = (pattern: string) => matchesGlob(`test/${file}`, pattern);
        return include.some(matches) && !exclude.some(matches);
      }),
    );
    expect(shared?.length).toBeGreaterThan(300);
    expect(alone?.length).toBeGreaterThan(10);
    expect(rest?.length).toBeGreaterThan(50);
    expect([...(shared ?? []), ...(alone ?? []), ...(rest ?? [])].toSorted()).toEqual(TESTS.toSorted());
    expect(manifest.scripts.test).toMatch(/ --project test --project test:own-process$/);
    expect(manifest.scripts['test:all']).toMatch(/ --project test:all$/);
    const commands = readFileSync(here('../.ci/run'), 'utf8')
      .split('\n')
      .filter((line) => /\bnpm (?:run )?test/.test(line));
    // A few failed files run once more.
    const again = '|| npm run test:failed';
    expect(commands.slice(-2)).toEqual([`npm test ${again}`, `npm run test:all ${again}`]);
  });

  it('name tests that exist', () => {
    expect(NAMED.length).toBeGreaterThan(200);
    const wrong: string[] = [];
    for (const { file, titles } of NAMED) {
      if (!existsSync(here(file))) wrong.push(`${file} is not there`);
      else {
        const source = readFileSync(here(file), 'utf8');
        const has = (title: string) => ["'", '"', '`'].some((quote) => source.includes(`${quote}${title}${quote}`));
        wrong.push(...titles.filter((title) => !has(title)).map((title) => `${file} has no test “${title}”`));
      }
    }
    expect(wrong).toEqual([]);
  });

  it('cover each trap, T1 to T45', () => {
    const rows = [...ALL.matchAll(/^\| T(\d+) [^|]+\| [^|]+/gm)].map(([, number]) => Number(number));
    expect(rows.toSorted((a, b) => a - b)).toEqual(range(1, 45));
  });

  it.each([
    ['B', PROXY, []],
    ['D', FAULTS, ['D02A']],
  ] as const)('cover each accepted check of %s', (letter, ranges, more) => {
    const name = (number: number) => `${letter}${String(number).padStart(3, '0')}`;
    const rows = [...ALL.matchAll(/^\| ([A-D]\d[\dA-F]{2}[^|]*) \| [^|]{10,}/gm)].map(([, checks = '']) => checks);
    const told = new Set(
      rows.flatMap((checks) =>
        [...checks.matchAll(/([A-D])(\d[\dA-F]{2})(?:–[A-D](\d{3}))?/g)].flatMap(([, group = '', from = '', to]) =>
          to === undefined ? [group + from] : group === letter ? range(Number(from), Number(to)).map(name) : [],
        ),
      ),
    );
    const wanted = [...ranges.flatMap(([from, to]) => range(from, to)).map(name), ...more];
    expect(wanted.length).toBeGreaterThan(30);
    expect(wanted.filter((check) => !told.has(check))).toEqual([]);
  });

  it('cover each check, A001 to A334', () => {
    const rows = [...ALL.matchAll(/^\| (A\d{3}[A\d, –]*) \| [^|]{10,}/gm)].map(([, checks = '']) => checks);
    const told = rows
      .flatMap((checks) => checks.split(', '))
      .flatMap((part) => {
        const [from = '', to = from] = part.split('–');
        return range(Number(from.slice(1)), Number(to.slice(1)));
      });
    const all = CHECKS.flatMap(([from, to]) => range(from, to));
    expect(told.toSorted((a, b) => a - b)).toEqual(all);
  });

  it('cover each check of the tools, C100 to C134', () => {
    const rows = [...ALL.matchAll(/^\| (C1\d\d(?:, C1\d\d)*) \| [^|]{10,}/gm)].map(([, checks = '']) => checks);
    const told = rows.flatMap((checks) => checks.split(', ').map((check) => Number(check.slice(1))));
    expect(told.toSorted((a, b) => a - b)).toEqual([...range(100, 117), ...range(120, 134)]);
  });
});
