import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'coursegate-bench-test-'));
const results = join(folder, 'RESULTS.md');
// Read when the module is loaded.
process.env.BENCH_RESULTS = results;
const { bench } = await import('../../bench/support/run.ts');
const { objections } = await import('../../bench/support/quiet.ts');

const ones = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1];

/** Runs a bench whose subject was measured twice, and returns what it printed. */
async function printed(again: readonly number[], partial?: string): Promise<string> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  await bench('Doors', 12, {}, async (run) => {
    run.pair('the gate: opening', ones, again);
    return { text: 'How doors were measured.', goals: { smallToGo: 0.5 }, partial };
  });
  const text = write.mock.calls.map(([chunk]) => String(chunk)).join('');
  write.mockRestore();
  return text;
}

describe('a bench', () => {
  afterEach(() => {
    process.exitCode = undefined;
    rmSync(results, { force: true });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('writes its section with the pair and the goals when the same subject started twice costs the same', async () => {
    const text = await printed(ones.map(() => 1.04));
    const written = readFileSync(results, 'utf8');
    expect(written).toContain('## Doors\n');
    expect(written).toContain('| the gate: opening | 1.040 (1.040–1.040) |');
    expect(written).toContain('| 1 KiB / Go ReverseProxy, no token | ≤ 0.95 x | 0.50 x | met |');
    expect(text).not.toContain('Not written');
    expect(process.exitCode).toBeUndefined();
  });

  it('compares all starts of a subject at once', async () => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    await bench('Doors', 12, {}, async (run) => {
      for (const cost of [0.96, 1.06]) run.pair('the gate: opening', ones.slice(6), ones.slice(6).fill(cost));
      return { text: '', goals: {} };
    });
    write.mockRestore();
    expect(readFileSync(results, 'utf8')).toContain('| the gate: opening | 1.010 (0.960–1.060) |');
  });

  it.each([
    ['costs 6 % more', ones.map(() => 1.06), 'A/A of the gate: opening is 1.060 (1.060–1.060): more than 5 % apart'],
    ['costs 6 % less', ones.map(() => 0.94), 'A/A of the gate: opening is 0.940 (0.940–0.940): more than 5 % apart'],
    [
      'costs the same in the median only',
      [0.8, 0.8, 0.8, 0.8, 0.8, 1, 1, 1.3, 1.3, 1.3, 1.3, 1.3],
      'A/A of the gate: opening is 1.000 (0.800–1.300): too uncertain, its interval reaches beyond 10 %',
    ],
  ])('prints its figures, writes nothing, and says why when the second start %s', async (_, again, why) => {
    const text = await printed(again);
    expect(text).toContain('How doors were measured.');
    expect(text).toContain(`Not written to RESULTS.md:\n- ${why}\n`);
    expect(existsSync(results)).toBe(false);
    expect(process.exitCode).toBe(1);
  });

  it('writes nothing when only a part of the section was measured', async () => {
    expect(await printed(ones, 'only a part of the section was asked for')).toContain(
      'Not written to RESULTS.md:\n- only a part of the section was asked for\n',
    );
    expect(existsSync(results)).toBe(false);
  });

  it('objects to other load, to too few rounds, and to figures without a pair', () => {
    const pair = (low: number) => ({ what: 'the gate', ratio: { median: 1, low, high: 1 } });
    expect(objections([pair(1)], [0.02, 0.09])).toEqual([]);
    expect(objections([pair(1)], [0.02, 0.31])).toEqual([
      'other processes use 31 % of the CPUs; at most 10 % are allowed',
    ]);
    expect(objections([pair(Number.NaN)], [])).toEqual(['A/A of the gate is 1.000 (no interval): too few rounds']);
    expect(objections([], [0])).toEqual(['no subject was started twice, so the error of the measurement is unknown']);
  });
});
