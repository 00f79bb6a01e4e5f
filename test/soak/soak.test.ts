import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runTrial } from '../../bench/soak/trial.ts';
import { judge } from '../../bench/soak/verdict.ts';

/** The short form of `npm run test:soak`, which goes on for an hour, on Redis too, and judges how the heap grows. */
const LOAD = 8_000;

describe('a gate that everything was asked of', () => {
  it('holds no more descriptors, sockets, timers and requests than before, and kept its word', {
    // Kept connections are waited for, twice, on a machine that may be busy.
    timeout: 600_000,
  }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'coursegate-soak-test-'));
    const said: string[] = [];
    try {
      const outcome = await runTrial({
        store: 'sqlite',
        duration: LOAD,
        sampleEvery: LOAD / 6,
        illEvery: undefined,
        warmUps: 1,
        perSecond: 5,
        folder,
        say: (line) => said.push(line),
        stopped: () => false,
        snapshots: false,
      });
      const { broken } = judge(outcome, false);
      expect(broken, said.join('\n')).toEqual([]);
      expect(outcome.checked).toBeGreaterThan(5);
      expect(outcome.counts).toMatchObject({
        'stream cut': expect.any(Number),
        'agent of a member': expect.any(Number),
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
