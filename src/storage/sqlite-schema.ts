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
  // What strangers make the store hold is counted as it is written and deleted: in total ('*', '*'), by network, by
  // client, and by both. The filler is the reserve (sqlite-space.ts).
  `ALTER TABLE entry ADD COLUMN quota TEXT;
   ALTER TABLE entry ADD COLUMN by_network TEXT;
   ALTER TABLE entry ADD COLUMN by_client TEXT;
   CREATE INDEX entry_network ON entry (quota, by_network) WHERE quota IS NOT NULL;
   CREATE INDEX entry_app ON entry (quota, by_client, by_network) WHERE quota IS NOT NULL;
   CREATE TABLE charged (
     quota TEXT NOT NULL, client TEXT NOT NULL, network TEXT NOT NULL, bytes INTEGER NOT NULL,
     PRIMARY KEY (quota, client, network)
   ) WITHOUT ROWID, STRICT;
   CREATE INDEX charged_most ON charged (quota, client, bytes);
   CREATE TRIGGER entry_charged AFTER INSERT ON entry WHEN NEW.quota IS NOT NULL BEGIN ${charge('NEW')} END;
   CREATE TRIGGER entry_released AFTER DELETE ON entry WHEN OLD.quota IS NOT NULL BEGIN ${release('OLD')} END;
   CREATE TRIGGER entry_recharged_from AFTER UPDATE OF payload, quota, by_network, by_client ON entry
     WHEN OLD.quota IS NOT NULL BEGIN ${release('OLD')} END;
   CREATE TRIGGER entry_recharged_to AFTER UPDATE OF payload, quota, by_network, by_client ON entry
     WHEN NEW.quota IS NOT NULL BEGIN ${charge('NEW')} END;
   CREATE TABLE reserve (filler BLOB NOT NULL) STRICT;`,
];

/** A migration's text: like the migration itself, it is never edited. */
function charge(row: string): string {
  const bytes = `octet_length(${row}.payload) + 1024`;
  return `INSERT INTO charged VALUES
       (${row}.quota, '*', '*', ${bytes}), (${row}.quota, '*', ${row}.by_network, ${bytes}),
       (${row}.quota, ${row}.by_client, '*', ${bytes}), (${row}.quota, ${row}.by_client, ${row}.by_network, ${bytes})
     ON CONFLICT (quota, client, network) DO UPDATE SET bytes = bytes + excluded.bytes;`;
}

function release(row: string): string {
  const which = `quota = ${row}.quota AND client IN ('*', ${row}.by_client) AND network IN ('*', ${row}.by_network)`;
  return `UPDATE charged SET bytes = bytes - octet_length(${row}.payload) - 1024 WHERE ${which};
     DELETE FROM charged WHERE ${which} AND bytes <= 0;`;
}

export const SCHEMA_VERSION = MIGRATIONS.length;

/** What a database says of itself: whose it is, and of which version. */
export function identityOf(database: DatabaseSync): {
  readonly ours: boolean;
  readonly version: number;
} {
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
