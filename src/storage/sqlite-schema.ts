import type { DatabaseSync } from 'node:sqlite';
import { REFERENCE_NAMES } from './store.ts';

/** "cgat", at byte 68 of the file's header: tells a store of ours from any other SQLite database. */
const APPLICATION_ID = 0x63676174;

const COLUMNS = `
  kind TEXT NOT NULL, id TEXT NOT NULL, payload TEXT NOT NULL,
  expires_at INTEGER, consumed_at INTEGER,
  ref_grant TEXT, ref_member TEXT, ref_client TEXT, ref_uid TEXT`;
const INDEXES = `
  CREATE INDEX entry_expiry ON entry (expires_at) WHERE expires_at IS NOT NULL;
  ${REFERENCE_NAMES.map((name) => `CREATE INDEX entry_${name} ON entry (kind, ref_${name}) WHERE ref_${name} IS NOT NULL;`).join('\n')}`;

/**
 * What makes a file of version n into one of version n + 1, from the empty file on. A migration that was released is
 * never edited: files written by it are out there. A new one is added at the end, with a test on a file of the old kind.
 */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE entry (${COLUMNS}, PRIMARY KEY (kind, id)) WITHOUT ROWID, STRICT; ${INDEXES}`,
  // Rows of half a kilobyte do not belong into the tree that is searched: a fifth smaller, and half the pages written.
  // What was issued together now lies together, and is swept together.
  `ALTER TABLE entry RENAME TO entry_before;
   CREATE TABLE entry (${COLUMNS}) STRICT;
   INSERT INTO entry SELECT * FROM entry_before;
   DROP TABLE entry_before;
   CREATE UNIQUE INDEX entry_key ON entry (kind, id);
   ${INDEXES}
   PRAGMA application_id = ${APPLICATION_ID};`,
];

export const SCHEMA_VERSION = MIGRATIONS.length;

/** What a database says of itself: whose it is, and of which version. */
export function identityOf(database: DatabaseSync): { readonly ours: boolean; readonly version: number } {
  const number = (name: string) => Number(database.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0);
  const version = number('user_version');
  const application = number('application_id');
  const entries = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'entry'").get();
  // Version 1 wrote no application id yet.
  const ours = application === APPLICATION_ID || (application === 0 && version === 1 && entries !== undefined);
  return { ours, version };
}

/** Brings a database of any version up to this one, in one transaction: a crash on the way leaves it as it was. */
export function migrate(database: DatabaseSync, from: number): void {
  if (from === SCHEMA_VERSION) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    for (const migration of MIGRATIONS.slice(from)) database.exec(migration);
    database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`);
  } catch (thrown) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw thrown;
  }
}
