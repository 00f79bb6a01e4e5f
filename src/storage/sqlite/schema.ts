import type { DatabaseSync } from 'node:sqlite';
import { codePath, readInstalled } from '../../installation.ts';
import { StoreOpenError } from '../open-failure.ts';

/** "cgat", at byte 68 of the file header: distinguishes our stores from other SQLite databases. */
const APPLICATION_ID = 0x63676174;

/**
 * Files beside this one. Each upgrades a store from version n to n + 1, starting with the empty file. Never edit a
 * released one: stores written by it exist. Add a new one at the end, with a test on a file of the previous version.
 */
const MIGRATIONS = ['sqlite-1.sql', 'sqlite-2.sql'] as const;

const SCHEMA_VERSION = MIGRATIONS.length;

/** Returns the schema version. Throws StoreOpenError if the file belongs to another program or a newer version. */
export function judgeIdentity(path: string, database: DatabaseSync): number {
  const number = (name: string) => Number(database.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0);
  // Only reading the schema shows that a file is no database: without it, the pragmas are 0.
  database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get();
  if (number('application_id') !== APPLICATION_ID)
    throw new StoreOpenError('foreign', path, 'it is a database of another program');
  const version = number('user_version');
  if (version > SCHEMA_VERSION)
    throw new StoreOpenError('newer', path, `schema ${version}, this one knows ${SCHEMA_VERSION}`);
  return version;
}

/** Upgrades a database of any version to the current one, in one transaction: a crash leaves it as it was. */
export function migrate(database: DatabaseSync, from: number): void {
  if (from === SCHEMA_VERSION) return;
  transaction(database, () => {
    for (const file of MIGRATIONS.slice(from))
      database.exec(readInstalled(codePath(`storage/sqlite/${file}`)).toString('utf8'));
    database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
    return true;
  });
}

/** Commits what `work` did, or rolls it back if it returns false or throws. */
export function transaction(database: DatabaseSync, work: () => boolean): boolean {
  database.exec('BEGIN IMMEDIATE');
  try {
    const held = work();
    database.exec(held ? 'COMMIT' : 'ROLLBACK');
    return held;
  } catch (thrown) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw thrown;
  }
}
