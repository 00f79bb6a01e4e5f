import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { holdStore } from '../../src/storage/hold.ts';
import { sqliteStore } from '../../src/storage/sqlite.ts';
import { lockStore } from '../../src/storage/sqlite-lock.ts';

const folder = mkdtempSync(join(tmpdir(), 'coursegate-workers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const entry = (id: string) => ({ kind: 'Grant', id, payload: '{}', expiresAt: undefined, references: {} });
const ALONE = { unwritable: () => {}, onIll: () => {} };

/** Whether another process could begin so on the lock of a store. */
function mayBegin(path: string, statement: string): boolean {
  const script = `new (require('node:sqlite').DatabaseSync)(process.argv[1]).exec(${JSON.stringify(statement)})`;
  return spawnSync(process.execPath, ['-e', script, `${path}-lock`]).status === 0;
}

describe('the lock of a store that workers share', () => {
  it('keeps other gates out while the primary has it, and while only a worker is left', () => {
    const path = join(folder, 'locked.db');
    const primary = lockStore(path, 'primary');
    expect(mayBegin(path, 'BEGIN EXCLUSIVE')).toBe(false);
    // A worker is let in beside it, in a process of its own.
    expect(mayBegin(path, 'BEGIN; SELECT 1 FROM sqlite_schema')).toBe(true);
    primary();
    expect(mayBegin(path, 'BEGIN EXCLUSIVE')).toBe(true);
    const worker = lockStore(path, 'worker');
    expect(mayBegin(path, 'BEGIN EXCLUSIVE')).toBe(false);
    worker();
    expect(mayBegin(path, 'BEGIN EXCLUSIVE')).toBe(true);
  });
});

describe('a store that another process writes, too', () => {
  it('waits for its turn while everything else goes on', async () => {
    const path = join(folder, 'shared.db');
    const held = holdStore({ kind: 'sqlite', path }, 'x'.repeat(40));
    const store = sqliteStore(path, Date.now, undefined, ALONE);
    const script = `
      const database = new (require('node:sqlite').DatabaseSync)(process.argv[1]);
      database.exec('BEGIN IMMEDIATE'); console.log('has it');
      process.stdin.once('data', () => { database.exec('COMMIT'); database.close(); process.exit(); });`;
    const other = spawn(process.execPath, ['-e', script, path], { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(other.stdout, 'data');
    let committed = 0;
    const asked = performance.now();
    const commits = ['a', 'b', 'c'].map(async (id) => {
      expect(await store.commit([{ op: 'create', entry: entry(id) }])).toBe(true);
      committed += 1;
    });
    // Asleep it would have been so for as long as the other has it, or for five seconds.
    expect(performance.now() - asked).toBeLessThan(2_500);
    let turns = 0;
    for (; turns < 50; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    // What only reads does not even wait.
    expect(await store.get('Grant', 'a')).toBeUndefined();
    expect([turns, committed]).toEqual([50, 0]);
    other.stdin.write('go on');
    await Promise.all(commits);
    expect(await store.get('Grant', 'c')).toBeDefined();
    await store.close();
    await held.release();
  });

  it('writes nothing any more once another worker has seen the disk fail, and reads nothing of a damaged file', async () => {
    const path = join(folder, 'ill.db');
    const held = holdStore({ kind: 'sqlite', path }, 'x'.repeat(40));
    let tell: (illness: { kind: 'unwritable' | 'damaged'; reason: string }) => void = () => {};
    const store = sqliteStore(path, Date.now, undefined, {
      unwritable: () => {},
      onIll: (listener) => {
        tell = listener;
      },
    });
    await store.commit([{ op: 'put', entry: entry('a') }]);
    tell({ kind: 'unwritable', reason: 'seen elsewhere' });
    await expect(store.commit([{ op: 'put', entry: entry('b') }])).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await store.get('Grant', 'a')).toBeDefined();
    tell({ kind: 'damaged', reason: 'seen elsewhere' });
    await expect(store.get('Grant', 'a')).rejects.toMatchObject({ code: 'store_unavailable' });
    await store.close();
    await held.release();
  });
});
