import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { History } from '../../bench/support/history.ts';
import { RUNS } from '../../bench/support/report.ts';
import { stage } from '../../site/stage.ts';

const conditions = { commit: '0123abcd', machine: 'two cores', load: 0.5, busy: 0.02 };
const same = { median: 1, low: 0.99, high: 1.01 };
const HISTORY: History = {
  smallToGo: [
    { ...conditions, date: '2026-11-28', median: 1.2, low: 1.1, high: 1.3, pair: same },
    { ...conditions, date: '2026-11-29', median: 0.96, low: 0.9, high: 1, pair: same },
    { ...conditions, date: '2026-11-30', median: 0.8, low: 0.7, high: 0.9, pair: same },
  ],
  lostTicks: [{ ...conditions, date: '2026-11-30', median: 0 }],
  refreshRate: [{ ...conditions, date: '2026-11-30', median: 300, low: 290, high: 310, pair: same }],
};

/** The page of measurements as the site has it, with this history. */
function stagedPage(history?: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-runs-'));
  try {
    mkdirSync(join(folder, 'tree/bench'), { recursive: true });
    writeFileSync(join(folder, 'tree/bench/RESULTS.md'), `# Measured\n\n${RUNS}\n\n## Proxy\n`);
    if (history !== undefined) writeFileSync(join(folder, 'tree/bench/history.json'), JSON.stringify(history));
    stage(join(folder, 'tree'), join(folder, 'staged'));
    return readFileSync(join(folder, 'staged/project/measurements.md'), 'utf8');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

it('the site draws the last runs of each goal with its bound, and tells them in words', () => {
  const page = stagedPage(HISTORY);
  const drawn = page.match(/<figure>[\s\S]*?<\/figure>/g) ?? [];
  expect(drawn).toHaveLength(3);
  const chart = drawn.find((one) => one.includes('Go ReverseProxy')) ?? '';
  expect(chart).toContain('<figcaption>1 KiB / Go ReverseProxy, no token <b>≤ 0.95 x: met</b></figcaption>');
  expect(chart.match(/class="mark \w+"/g)).toEqual(['class="mark missed"', 'class="mark open"', 'class="mark met"']);
  const place = (pattern: RegExp) => Number(pattern.exec(chart)?.[1]);
  const bound = place(/class="bound"[^>]* y1="([\d.]+)"/);
  expect(place(/class="mark missed"[^>]* y="([\d.]+)"/)).toBeLessThan(bound - 8);
  expect(place(/class="mark met"[^>]* cy="([\d.]+)"/)).toBeGreaterThan(bound);
  // What is above the bound misses it.
  expect(chart).toMatch(new RegExp(`class="beyond"[^>]* y="8" height="${bound - 8}"`));
  expect(chart).toContain(
    '<li>2026-11-29, commit 0123abcd: 0.96 x (0.90–1.00), not decided. A/A 1.00 (0.99–1.01); load 0.5, other processes up to 2 % of the CPUs; two cores.</li>',
  );
  // A rate misses its bound below it.
  const rate = drawn.find((one) => one.includes('refreshes on SQLite')) ?? '';
  const least = Number(/class="bound"[^>]* y1="([\d.]+)"/.exec(rate)?.[1]);
  expect(rate).toMatch(new RegExp(`class="beyond"[^>]* y="${least}" height="${124 - least}"`));
  // A blank line would end the HTML in Markdown.
  expect(page.slice(page.indexOf('<p>'), page.lastIndexOf('</div>'))).not.toContain('\n\n');
});

it('the site draws nothing before the first run, and for versions without a history', () => {
  expect(stagedPage({})).not.toContain('<figure>');
  expect(stagedPage()).not.toContain('<figure>');
});
