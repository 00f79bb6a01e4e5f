import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import { backupStore } from '../../../src/storage/sqlite/backup.ts';
import { sqliteStore } from '../../../src/storage/sqlite/sqlite-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'coursegate-schema-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let made = 0;
const fresh = () => join(folder, `store-${++made}`, 'coursegate.db');
const opening = async (path: string) => {
  try {
    await sqliteStore(path, Date.now).close();
    return 'opened';
  } catch (thrown) {
    return thrown as { reason?: string; message?: string };
  }
};
const asked = <T>(path: string, sql: string) => {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return database.prepare(sql).all() as T[];
  } finally {
    database.close();
  }
};
const told = (path: string, sql: string) => Object.values(asked<Record<string, unknown>>(path, sql)[0] ?? {})[0];
const altered = (path: string, sql: string) => {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
};

it('a new store has a schema version, an application id, and returns the space of deleted entries to the disk', async () => {
  const path = fresh();
  expect(await opening(path)).toBe('opened');
  expect(told(path, 'PRAGMA user_version')).toBe(2);
  expect(told(path, 'PRAGMA application_id')).toBe(0x63676174);
  expect(told(path, 'PRAGMA auto_vacuum')).toBe(2);
  expect(told(path, 'PRAGMA integrity_check')).toBe('ok');
});

it('a store of version 1, whose entries had no revision, keeps them', async () => {
  const path = fresh();
  const entry = { kind: 'Grant', id: 'g', payload: 'first', expiresAt: undefined, references: { member: 'm' } };
  const before = sqliteStore(path, Date.now);
  await before.commit([{ op: 'create', entry }]);
  await before.close();
  altered(path, 'ALTER TABLE entry DROP COLUMN revision; PRAGMA user_version = 1');
  const store = sqliteStore(path, Date.now);
  expect(await store.findBy('Grant', 'member', 'm')).toMatchObject([{ id: 'g', payload: 'first', revision: 1 }]);
  const update = { op: 'update', entry: { ...entry, payload: 'second' }, revision: 1 } as const;
  expect(await store.commit([update])).toBe(true);
  expect(await store.commit([update])).toBe(false);
  expect(await store.get('Grant', 'g')).toMatchObject({ payload: 'second', revision: 2 });
  await store.close();
  expect(told(path, 'PRAGMA user_version')).toBe(2);
});

describe('a valid SQLite database', () => {
  it.each([
    ['of a newer version', 'newer', 'PRAGMA user_version = 3', 'schema 3, this one knows 2'],
    ['of another program', 'foreign', 'PRAGMA application_id = 1196444487', 'another program'],
    ['of unknown origin with a table of that name', 'foreign', 'PRAGMA application_id = 0', 'another program'],
  ])('%s is refused as %s, and left as it is', async (_name, reason, sql, message) => {
    const path = fresh();
    expect(await opening(path)).toBe('opened');
    altered(path, sql);
    const before = readFileSync(path);
    expect(await opening(path)).toMatchObject({ reason, message: expect.stringContaining(message) });
    await expect(backupStore({ kind: 'sqlite', path }, `${path}.copy`)).rejects.toMatchObject({ reason });
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it('without the gate’s table is refused, whatever its schema version', async () => {
    for (const version of [0, 1, 2, 3, 4]) {
      const path = join(folder, `other-${version}.db`);
      altered(path, `CREATE TABLE courses (a); PRAGMA user_version = ${version};`);
      expect(await opening(path)).toMatchObject({ reason: 'foreign' });
      expect(asked(path, 'SELECT name FROM sqlite_schema')).toEqual([{ name: 'courses' }]);
    }
  });
});
