import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runStreams } from '../../bench/streams/trial.ts';

/** The short form of `npm run bench:streams`, which has 9,000 of them and times what is beside them. */
const STREAMS = Number(process.env.COURSEGATE_STREAMS ?? 500);
const GRANTS = 5;

describe(`${STREAMS} event streams through one gate`, () => {
  it('all hear every event; a revocation ends its own; all reset at once come back; none leaves a descriptor', {
    timeout: 600_000,
  }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'coursegate-streams-test-'));
    try {
      const outcome = await runStreams({ streams: STREAMS, grants: GRANTS, folder, seconds: 2, say: () => undefined });
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
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
