import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { sqliteStore } from '../../src/storage/sqlite/sqlite-store.ts';
import { type NewEntry, REFERENCE_NAMES, type Store } from '../../src/storage/store.ts';
import { sweepAll } from '../../src/storage/sweep.ts';
import { slowness } from '../support/pace.ts';

const folder = mkdtempSync(join(tmpdir(), 'coursegate-bounded-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ABANDONED = 100_000;
const KEPT = 1000;
const NOW = Date.UTC(2026, 0, 1);

const entry = (at: number, expiresAt: number): NewEntry => ({
  kind: at % 2 === 0 ? 'Interaction' : 'Client',
  id: `id-${expiresAt}-${at}`,
  payload: 'x'.repeat(400),
  expiresAt,
  references: { client: `client-${at % 5000}`, uid: `uid-${at}` },
});

async function fill(store: Store, count: number, expiresAt: number): Promise<void> {
  const size = 5000;
  for (let from = 0; from < count; from += size) {
    const batch = Array.from({ length: Math.min(size, count - from) }, (_, at) => entry(from + at, expiresAt));
    await store.commit(batch.map((one) => ({ op: 'put', entry: one })));
  }
}

/** The size of the heap after garbage collection. */
function heap(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

describe('the embedded store', () => {
  it('deletes a hundred thousand expired entries in short batches, with constant memory', {
    timeout: 600_000,
  }, async () => {
    let time = NOW;
    const path = join(folder, 'bounded.db');
    const store = sqliteStore(path, () => time);
    const before = heap();
    await fill(store, ABANDONED, NOW / 1000 + 60);
    await fill(store, KEPT, NOW / 1000 + 3600);
    const size = statSync(path).size;
    time += 61_000;

    const batches: number[] = [];
    const timed = {
      compact: store.compact,
      async sweep(limit: number) {
        const started = process.cpuUsage();
        const swept = await store.sweep(limit);
        const { user, system } = process.cpuUsage(started);
        batches.push((user + system) / 1000);
        return swept;
      },
    };
    expect(await sweepAll(timed, () => false)).toBe(ABANDONED);
    expect(batches.length).toBeGreaterThan(100);
    // In processor time of a usual machine, so that other load and a slow disk do not count. The garbage of one batch in a hundred may be
    // collected during another batch.
    const slowest = batches.toSorted((a, b) => a - b)[Math.floor(batches.length * 0.99)];
    expect((slowest ?? Number.NaN) / slowness()).toBeLessThan(50);
    expect(heap() - before).toBeLessThan(20 * 1024 * 1024);
    expect(await store.findBy('Client', 'client', 'client-1', 10)).toHaveLength(1);

    // Deleted entries free their space: after as many new entries, the file is no larger.
    await fill(store, ABANDONED, NOW / 1000 + 7200);
    expect(statSync(path).size).toBeLessThan(size * 1.25);
    await store.close();
  });

  it('uses an index for every statement', async () => {
    const path = join(folder, 'plans.db');
    const prepare = vi.spyOn(DatabaseSync.prototype, 'prepare');
    const store = sqliteStore(path, () => NOW);
    const statements = prepare.mock.calls.map(([sql]) => sql).filter((sql) => /\b(FROM|INTO|UPDATE) entry\b/.test(sql));
    prepare.mockRestore();
    await fill(store, 5000, NOW / 1000 + 60);
    const database = new DatabaseSync(path);
    const plans = statements
      .filter((sql) => !/^\s*INSERT/.test(sql))
      .map((sql) => ({
        sql,
        plan: database
          .prepare(`EXPLAIN QUERY PLAN ${sql}`)
          .all()
          .map(({ detail }) => String(detail))
          .join('; '),
      }));
    expect(plans.length).toBeGreaterThan(2 * REFERENCE_NAMES.length);
    for (const { sql, plan } of plans) {
      // The number of entries, or of those of one kind, which an operator's command reads once: it scans only the index, not the rows.
      if (/COUNT\(\*\) AS count FROM entry INDEXED BY entry_key/.test(sql)) {
        expect(plan).toMatch(/^(SCAN|SEARCH) entry USING COVERING INDEX entry_key( \(kind=\?\))?$/);
        continue;
      }
      expect(plan, sql).toContain('SEARCH entry');
      expect(plan, sql).not.toContain('SCAN');
      // Half of the table is of one kind, so a search by the kind alone would read half of it.
      expect(plan, sql).not.toMatch(/entry_key \(kind=\?\)/);
      const [, condition = ''] = sql.split('WHERE');
      for (const name of REFERENCE_NAMES)
        if (condition.includes(`ref_${name} = ?`)) expect(plan).toContain(`entry_${name}`);
      if (/expires_at <= \?/.test(sql)) expect(plan).toContain('entry_expiry');
    }
    database.close();
    await store.close();
  });
});
