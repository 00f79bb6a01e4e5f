import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runRollingRestarts } from '../../bench/soak/rolling-restarts.ts';
import { serverPresent } from '../support/http-server.ts';
import { redisPresent } from '../support/redis.ts';

/** Each round restarts both replicas, one after the other. */
const ROUNDS = Number(process.env.COURSEGATE_ROLLING_RESTARTS ?? 1);

describe.skipIf(!redisPresent() || !serverPresent('haproxy'))('two replicas on Redis behind HAProxy', () => {
  it('are restarted one after the other under load without a failed request or a lost grant', {
    timeout: 300_000 + ROUNDS * 120_000,
  }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'coursegate-rolling-'));
    try {
      const outcome = await runRollingRestarts({ rounds: ROUNDS, perSecond: 8, folder });
      process.stdout.write(`rolling restarts: ${JSON.stringify(outcome)}\n`);
      expect(outcome.faults).toEqual([]);
      expect(outcome.exits).toEqual(Array.from({ length: 2 * ROUNDS }, () => 0));
      // If the store responds too late on a busy machine, the gate returns 503; nothing is lost.
      const { 'status 503': _tooLate, ...failed } = outcome.troubles;
      expect(failed).toEqual({});
      expect(outcome.done).toBeGreaterThan(20 * ROUNDS);
      expect(outcome.held).toBeGreaterThan(5);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
