import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { GOALS, judge } from '../../bench/support/goals.ts';
import { figureOf, goalRows, type Reading, restored, stored } from '../../bench/support/history.ts';
import { resultsPage } from '../../bench/support/report.ts';

const ROOT = new URL('../../', import.meta.url);
const between = (low: number, high: number) => ({ median: (low + high) / 2, low, high });
const run = (reading: object): Reading => ({
  ...{ date: '2026-11-30', commit: '0123abcd', machine: 'two cores', load: 0.5, busy: 0, median: 1 },
  ...reading,
});

describe('a goal', () => {
  it.each([
    [{ most: 2 }, between(1.5, 2), 'met'],
    [{ most: 2 }, between(-3, -1), 'met'],
    [{ most: 2 }, between(1.9, 2.1), 'not decided'],
    [{ most: 2 }, between(2, 3), 'not decided'],
    [{ most: 2 }, between(2.01, 3), 'missed'],
    [{ least: 400 }, between(400, 500), 'met'],
    [{ least: 400 }, between(390, 500), 'not decided'],
    [{ least: 400 }, between(390, 399), 'missed'],
    [{ most: 2 }, { median: 1, low: Number.NaN, high: Number.NaN }, 'not decided'],
    [{ most: 2 }, 2, 'met'],
    [{ most: 2 }, 2.1, 'missed'],
  ] as const)('of %j, with %j, is %s', (bound, figure, verdict) => {
    expect(judge(bound, figure)).toBe(verdict);
  });

  it('is judged by the last run, and only if A/A agrees; without an interval, by its value', () => {
    const same = between(0.99, 1.01);
    const history = {
      smallToGo: [
        run({ median: 0.5, low: 0.4, high: 0.6, pair: same }),
        run({ median: 1, low: 0.97, high: 1.02, pair: same }),
      ],
      largeToGo: [run({ median: 0.5, low: 0.4, high: 0.6 })],
      attack: [run({ median: 3.5 })],
    };
    expect(goalRows(history, ['smallToGo', 'largeToGo', 'attack', 'refreshRate'])).toEqual([
      [
        '1 KiB / Go ReverseProxy, no token',
        '≤ 0.95 x',
        '1.00 x (0.97–1.02)',
        '1.00 (0.99–1.01)',
        '2026-11-30, 0123abcd, load 0.5',
        '**missed**',
      ],
      [
        '64 KiB / Go ReverseProxy, no token',
        '≤ 1 x',
        '0.50 x (0.40–0.60)',
        '',
        '2026-11-30, 0123abcd, load 0.5',
        '**not decided**, A/A: not measured',
      ],
      [
        'most expensive attack on the Account API, cold',
        '≤ 3 ms',
        '3.50 ms',
        '',
        '2026-11-30, 0123abcd, load 0.5',
        '**missed**, by a single value',
      ],
      ['refreshes on SQLite', '≥ 400 per s', '', '', '', 'not measured'],
    ]);
  });

  it.each([
    ['attack', { median: 3.5, busy: 0.4 }, '**not decided**, others used 40 % of the CPUs'],
    ['attack', { median: 2.5, busy: 0.4 }, 'met, by a single value'],
    [
      'refreshRate',
      { ...between(300, 350), busy: 0.4, pair: between(0.99, 1.01) },
      '**not decided**, others used 40 % of the CPUs',
    ],
    ['lostTicks', { median: 3, busy: 0.4 }, '**missed**, by a single value'],
    ['idleStream', { median: 40, busy: 0.4 }, '**missed**, by a single value'],
    ['smallToGo', { ...between(1, 1.1), busy: 0.4, pair: between(0.99, 1.01) }, '**missed**'],
  ] as const)('is not called missed for a time on a busy machine: %s, %j', (name, reading, verdict) => {
    expect(goalRows({ [name]: [run(reading)] }, [name])[0]?.at(-1)).toBe(verdict);
  });

  it('is stored as JSON, also without an interval and without limit', () => {
    const figures = [
      between(1.23456, 2),
      { median: 1, low: Number.NaN, high: Number.NaN },
      between(1, Number.POSITIVE_INFINITY),
    ];
    const read = figures.map((one) => restored(JSON.parse(JSON.stringify(stored(one)))));
    expect(read).toEqual([{ median: 1.617, low: 1.235, high: 2 }, figures[1], figures[2]]);
    expect(figureOf(GOALS.p99AtRate, stored(between(1, Number.POSITIVE_INFINITY)))).toBe('∞ ms (1–∞)');
  });

  it('is measured by a bench', () => {
    const sources = globSync('bench/*/**/*.ts', { cwd: ROOT, exclude: ['bench/support/**'] }).map((file) =>
      readFileSync(new URL(file, ROOT), 'utf8'),
    );
    const named = sources.flatMap((text) => [
      ...[...text.matchAll(/\bgoals\.(\w+) =/g)].map(([, name]) => name),
      ...(/\bgoals: \{(.*\}|[\s\S]*?\n {4,}\})/.exec(text)?.[1]?.match(/\b\w+(?=: )/g) ?? []),
    ]);
    const missing = Object.keys(GOALS).filter((name) => !named.includes(name));
    expect(missing).toEqual([]);
  });
});

describe('RESULTS.md', () => {
  it('has the goals of history.json: npm run reference writes them', () => {
    const page = readFileSync(new URL('bench/RESULTS.md', ROOT), 'utf8');
    expect(resultsPage(page, JSON.parse(readFileSync(new URL('bench/history.json', ROOT), 'utf8')))).toBe(page);
  });
});
