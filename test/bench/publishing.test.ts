import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'coursegate-bench-test-'));
const [results, history] = [join(folder, 'RESULTS.md'), join(folder, 'history.json')];
// Read when the module is loaded.
process.env.BENCH_RESULTS = results;
const { bench } = await import('../../bench/support/run.ts');
const { objections } = await import('../../bench/support/quiet.ts');

const ones = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1];
const DOORS = { title: 'Doors', rounds: 12, needs: [] };
/** How the pair of the goal smallToGo is called. */
const PAIR = 'coursegate: 1 KiB';

const goalRow = () => /^\| 1 KiB \/ Go ReverseProxy, no token .*$/m.exec(readFileSync(results, 'utf8'))?.[0];

/** Runs a bench whose subject was measured twice, and returns what it printed. */
async function printed(again: readonly number[], partial?: string): Promise<string> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  await bench(DOORS, {}, async (run) => {
    run.pair(PAIR, ones, again);
    return {
      text: 'How doors were measured.',
      goals: { smallToGo: { median: 0.5, low: 0.4, high: 0.6 }, attack: undefined },
      partial,
    };
  });
  const text = write.mock.calls.map(([chunk]) => String(chunk)).join('');
  write.mockRestore();
  return text;
}

describe('a bench', () => {
  afterEach(() => {
    process.exitCode = undefined;
    for (const file of [results, history]) rmSync(file, { force: true });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('writes its section with the pair, and judges the goal, when the same subject started twice costs the same', async () => {
    const text = await printed(ones.map(() => 1.04));
    const written = readFileSync(results, 'utf8');
    expect(written).toContain('## Doors\n');
    expect(written).toContain('| coursegate: 1 KiB | 1.040 (1.040–1.040) |');
    expect(goalRow()).toMatch(
      /^\| 1 KiB \/ Go ReverseProxy, no token \| ≤ 0\.95 x \| 0\.50 x \(0\.40–0\.60\) \| 1\.04 \(1\.04–1\.04\) \| \d{4}-\d\d-\d\d, \w{8}\+?, load [\d.]+ \| met \|$/,
    );
    expect(written).toContain('| most expensive attack on the Account API, cold | ≤ 3 ms |  |  |  | not measured |');
    expect(written).not.toContain('speaks against');
    expect(text).toContain('| 0.50 x (0.40–0.60) |');
  });

  it('compares all starts of a subject at once', async () => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    await bench(DOORS, {}, async (run) => {
      for (const cost of [0.96, 1.06]) run.pair(PAIR, ones.slice(6), ones.slice(6).fill(cost));
      return { text: '', goals: {} };
    });
    write.mockRestore();
    expect(readFileSync(results, 'utf8')).toContain('| coursegate: 1 KiB | 1.010 (0.960–1.060) |');
  });

  it.each([
    ['costs 6 % more', ones.map(() => 1.06), '1.060 (1.060–1.060)', 'more than 5 % apart'],
    ['costs 6 % less', ones.map(() => 0.94), '0.940 (0.940–0.940)', 'more than 5 % apart'],
    [
      'costs the same in the median only',
      [0.8, 0.8, 0.8, 0.8, 0.8, 1, 1, 1.3, 1.3, 1.3, 1.3, 1.3],
      '1.000 (0.800–1.300)',
      'its interval reaches beyond 10 %',
    ],
  ])('writes its figures, and that they decide nothing, when the second start %s', async (_, again, aa, why) => {
    const text = await printed(again);
    const written = readFileSync(results, 'utf8');
    expect(written).toContain('How doors were measured.');
    expect(written).toContain(`What speaks against these figures:\n\n- A/A of ${PAIR} is ${aa}: ${why}\n`);
    expect(goalRow()).toMatch(new RegExp(`\\| \\*\\*not decided\\*\\*, A/A: ${why} \\|$`));
    expect(text).toContain(`**not decided**, A/A: ${why}`);
    expect(process.exitCode).toBeUndefined();
  });

  it('keeps the last five runs, and the sections of others', async () => {
    for (let run = 0; run < 6; run += 1) await printed(ones.map(() => 1 + run / 100));
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    await bench({ ...DOORS, title: 'Attics' }, {}, async () => ({ text: 'Up there.', goals: { attack: 2.5 } }));
    write.mockRestore();
    const kept = JSON.parse(readFileSync(history, 'utf8'));
    expect(kept.smallToGo.map((one: { pair: object }) => one.pair)).toEqual(
      [1.01, 1.02, 1.03, 1.04, 1.05].map((value) => ({ median: value, low: value, high: value })),
    );
    expect(kept.attack).toHaveLength(1);
    expect(kept.attack[0]).toMatchObject({ median: 2.5, machine: expect.stringContaining('Node 24') });
    const titles = readFileSync(results, 'utf8').match(/^## .*/gm);
    expect(titles).toEqual(['## Goals', '## Attics', '## Doors']);
  });

  it('writes nothing when only a part of the section was measured', async () => {
    expect(await printed(ones, 'only a part of the section was asked for')).toContain(
      'Not written to RESULTS.md: only a part of the section was asked for.\n',
    );
    expect(existsSync(results)).toBe(false);
    expect(existsSync(history)).toBe(false);
  });

  it('says what the machine did beside it', () => {
    const pair = (low: number) => ({ what: 'the gate', ratio: { median: 1, low, high: 1 } });
    expect(objections([pair(1)], [0.02, 0.09])).toEqual([]);
    expect(objections([pair(1)], [0.02, 0.31])).toEqual(['other processes used up to 31 % of the CPUs']);
    expect(objections([pair(Number.NaN)], [])).toEqual(['A/A of the gate is 1.000 (no interval): too few rounds']);
  });
});
