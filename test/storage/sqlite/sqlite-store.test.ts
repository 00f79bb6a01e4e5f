import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { sqliteStore } from '../../../src/storage/sqlite/sqlite-store.ts';
import { sweepAll } from '../../../src/storage/sweep.ts';
import { rawStoreConformance, storeConformance, testClock } from '../conformance.ts';

const folder = mkdtempSync(join(tmpdir(), 'coursegate-sqlite-'));
let made = 0;
const fresh = () => join(folder, `store-${++made}`, 'coursegate.db');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

storeConformance('sqlite', (clock) => sqliteStore(fresh(), clock));
rawStoreConformance('sqlite', (clock) => sqliteStore(fresh(), clock));

describe('a SQLite store', () => {
  const entry = { kind: 'Grant', id: 'g', payload: '{}', expiresAt: undefined, references: {} };

  it('keeps its entries over a restart', async () => {
    const path = fresh();
    const first = sqliteStore(path, testClock().now);
    await first.commit([{ op: 'put', entry }]);
    await first.close();
    const second = sqliteStore(path, testClock().now);
    expect((await second.get('Grant', 'g'))?.payload).toBe('{}');
    await second.close();
  });

  it('is readable by its owner only, write-ahead log included', async () => {
    const path = fresh();
    const store = sqliteStore(path, testClock().now);
    await store.commit([{ op: 'put', entry }]);
    for (const file of [path, `${path}-wal`, `${path}-shm`, `${path}-lock`])
      expect(statSync(file).mode & 0o777).toBe(0o600);
    await store.close();
  });

  it('is not opened if the file is not a database', () => {
    const path = join(folder, 'garbage.db');
    writeFileSync(path, 'this is not a database, and long enough to be sure of it'.repeat(100));
    expect(() => sqliteStore(path, testClock().now)).toThrow(expect.objectContaining({ code: 'store_unavailable' }));
  });

  it('returns 503 once it is closed', async () => {
    const store = sqliteStore(fresh(), testClock().now);
    await store.close();
    await expect(store.get('Grant', 'g')).rejects.toMatchObject({ code: 'store_unavailable', status: 503 });
  });

  it('leaves expired entries to the sweep when it writes for a member', async () => {
    const clock = testClock();
    const store = sqliteStore(fresh(), clock.now);
    const expiresAt = Math.floor(clock.now() / 1000) + 1;
    await store.commit([{ op: 'put', entry: { ...entry, id: 'old', expiresAt } }]);
    clock.advance(2);
    await store.commit([{ op: 'put', entry }]);
    expect(await store.sweep(10)).toBe(1);
    await store.close();
  });

  it('returns the space of expired entries to the disk', async () => {
    const clock = testClock();
    const path = fresh();
    const store = sqliteStore(path, clock.now);
    const pace = { now: () => performance.now(), rest: async () => undefined };
    await sweepAll(store, () => false, pace);
    const before = statSync(path).size;
    const expiresAt = Math.floor(clock.now() / 1000) + 1;
    const payload = JSON.stringify('x'.repeat(4096));
    for (let at = 0; at < 20; at += 1) {
      const puts = Array.from({ length: 100 }, (_, more) => ({ ...entry, id: `${at}-${more}`, payload, expiresAt }));
      await store.commit(puts.map((put) => ({ op: 'put', entry: put })));
    }
    clock.advance(2);
    expect(await sweepAll(store, () => false, pace)).toBe(2000);
    // A megabyte of free pages stays in the file for the next entries.
    expect(statSync(path).size - before).toBeLessThan(2 * 1024 * 1024);
    await store.close();
  });
});
