import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import { backupStore } from '../../src/storage/backup.ts';
import { sqliteStore } from '../../src/storage/sqlite.ts';
import { writeVersion1 } from './sqlite-version-1.ts';

const folder = mkdtempSync(join(tmpdir(), 'coursegate-migration-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const GRANTS = 1000;
let made = 0;
const version1 = () => {
  const path = join(folder, `store-${++made}`, 'coursegate.db');
  writeVersion1(path, GRANTS);
  return path;
};
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

describe('a store written by an earlier version', () => {
  it('is migrated with all its entries', async () => {
    const path = version1();
    const store = sqliteStore(path, Date.now);
    expect(await store.get('Grant', 'id-0')).toEqual({
      kind: 'Grant',
      id: 'id-0',
      payload: 'payload-0',
      expiresAt: 4_000_000_000,
      consumedAt: 1_700_000_000,
      references: { grant: 'g-0', member: 'm-0', client: 'c-0' },
    });
    expect(await store.get('Grant', 'id-1')).toMatchObject({ expiresAt: undefined, consumedAt: undefined });
    expect(await store.findBy('Grant', 'member', 'm-3')).toHaveLength(143);
    expect(await store.commit([{ op: 'consume', kind: 'Grant', id: 'id-0' }])).toBe(false);
    await store.close();
    expect(told(path, 'SELECT count(*) FROM entry')).toBe(GRANTS);
    expect(told(path, 'PRAGMA user_version')).toBe(4);
    // Space of deleted entries is returned to the disk from now on.
    expect(told(path, 'PRAGMA auto_vacuum')).toBe(2);
    expect(told(path, 'PRAGMA application_id')).toBe(0x63676174);
    expect(told(path, 'PRAGMA integrity_check')).toBe('ok');
  });

  it('has the same schema as a new one afterwards', async () => {
    const shape = "SELECT name, replace(replace(sql, char(10), ''), ' ', '') AS sql FROM sqlite_schema ORDER BY name";
    const old = version1();
    const fresh = join(folder, 'fresh', 'coursegate.db');
    for (const path of [old, fresh]) expect(await opening(path)).toBe('opened');
    expect(asked(old, shape)).toEqual(asked(fresh, shape));
    expect(asked(old, shape)).toHaveLength(19);
    expect(told(fresh, 'PRAGMA auto_vacuum')).toBe(2);
  });

  it('is backed up without being migrated', async () => {
    const path = version1();
    const copy = join(folder, 'copy.db');
    await backupStore({ kind: 'sqlite', path }, copy);
    expect(told(copy, 'PRAGMA user_version')).toBe(1);
    expect(await opening(copy)).toBe('opened');
  });

  it('is unchanged when the migration fails halfway', async () => {
    const path = version1();
    // The migration's last statement fails, because the name that it creates already exists.
    altered(path, 'CREATE TABLE other (a); CREATE INDEX entry_key ON other (a);');
    expect(await opening(path)).toMatchObject({ reason: 'unopenable' });
    expect(told(path, 'PRAGMA user_version')).toBe(1);
    expect(told(path, 'PRAGMA application_id')).toBe(0);
    expect(told(path, 'SELECT count(*) FROM entry')).toBe(GRANTS);
    altered(path, 'DROP TABLE other');
    expect(await opening(path)).toBe('opened');
    expect(told(path, 'SELECT count(*) FROM entry')).toBe(GRANTS);
  });
});

describe('a valid SQLite database', () => {
  it.each([
    ['of a newer version', 'newer', 'PRAGMA user_version = 5', 'schema 5, this one knows 4'],
    ['of another program', 'foreign', 'PRAGMA application_id = 1196444487', 'another program'],
    ['of unknown origin with a table of that name', 'foreign', 'PRAGMA application_id = 0', 'another program'],
  ])('%s is refused as %s, and left as it is', async (_name, reason, sql, message) => {
    const path = version1();
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
