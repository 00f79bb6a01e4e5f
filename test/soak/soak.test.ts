import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { runTrial } from '../../bench/soak/trial.ts';
import { judge } from '../../bench/soak/verdict.ts';
import type { StreamsOutcome } from '../../bench/streams/trial.ts';

/** The short form of `npm run test:soak`, which goes on for an hour, on Redis too, and judges how the heap grows. */
const LOAD = 8_000;

/** The short form of `npm run bench -- streams`, which has 9,000 of them and times what is beside them. */
const STREAMS = Number(process.env.COURSEGATE_STREAMS ?? 500);
const GRANTS = 5;

// Both wait most of the time, for idle connections to close: they wait together, each at a gate of its own.
describe.concurrent('a gate that everything was asked of', () => {
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

describe.concurrent(`${STREAMS} event streams through one gate`, () => {
  it('all hear every event; a revocation ends its own; all reset at once come back; none leaves a descriptor', {
    timeout: 600_000,
  }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'coursegate-streams-test-'));
    const workerData = { streams: STREAMS, grants: GRANTS, folder, seconds: 2 };
    const thread = new Worker(new URL('support/streams-thread.ts', import.meta.url), { workerData });
    try {
      const [outcome] = (await once(thread, 'message')) as [StreamsOutcome];
      const { ticks, revoked, storm, beside, descriptors, refused, each } = outcome;
      expect(ticks.sent).toBeGreaterThanOrEqual(STREAMS * 2);
      expect(ticks.heard).toBe(ticks.sent);
      expect(revoked).toMatchObject({ streams: STREAMS / GRANTS, ended: STREAMS / GRANTS, others: 0 });
      expect(storm.streams).toBe(STREAMS - STREAMS / GRANTS);
      expect([beside.others, storm.beside.others, refused]).toEqual([[], [], {}]);
      expect(descriptors.open).toBeGreaterThanOrEqual(descriptors.before + 2 * STREAMS);
      expect(descriptors.after).toBeLessThanOrEqual(descriptors.before);
      // The whole is held to 60; few streams share what is made once.
      expect(each).toBeLessThan(150);
    } finally {
      await thread.terminate();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
