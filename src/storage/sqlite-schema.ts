import type { DatabaseSync } from 'node:sqlite';
import { REFERENCE_NAMES } from './store.ts';

/** "cgat", at byte 68 of the file header: distinguishes our stores from other SQLite databases. */
const APPLICATION_ID = 0x63676174;

const COLUMNS = `
  kind TEXT NOT NULL, id TEXT NOT NULL, payload TEXT NOT NULL,
  expires_at INTEGER, consumed_at INTEGER,
  ref_grant TEXT, ref_member TEXT, ref_client TEXT, ref_uid TEXT`;
const INDEXES = `
  CREATE INDEX entry_expiry ON entry (expires_at) WHERE expires_at IS NOT NULL;
  ${REFERENCE_NAMES.map((name) => `CREATE INDEX entry_${name} ON entry (kind, ref_${name}) WHERE ref_${name} IS NOT NULL;`).join('\n')}`;

/**
 * Each migration upgrades a file from version n to n + 1, starting with the empty file. Never edit a released
 * migration: files written by it exist. Add a new one at the end, with a test on a file of the previous version.
 */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE entry (${COLUMNS}, PRIMARY KEY (kind, id)) WITHOUT ROWID, STRICT; ${INDEXES}`,
  // Rows of half a kilobyte do not belong in the tree that is searched: without them the file is a fifth smaller, and
  // half the pages are written. Entries that were issued together are now stored together, and are swept together.
  `ALTER TABLE entry RENAME TO entry_before;
   CREATE TABLE entry (${COLUMNS}) STRICT;
   INSERT INTO entry SELECT * FROM entry_before;
   DROP TABLE entry_before;
   CREATE UNIQUE INDEX entry_key ON entry (kind, id);
   ${INDEXES}
   PRAGMA application_id = ${APPLICATION_ID};`,
  // Totals of what strangers store, updated on every write and delete: in total ('*', '*'), by network, by client, and
  // by both. The filler is the reserve (sqlite-space.ts).
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
   ${triggers(['network'], ['network'])}
   CREATE TABLE reserve (filler BLOB NOT NULL) STRICT;`,
  // Totals of wider networks instead of those of a client and a network. Entries of before count as wider networks of
  // their own.
  `DROP TRIGGER entry_charged; DROP TRIGGER entry_released; DROP TRIGGER entry_recharged_from;
   DROP TRIGGER entry_recharged_to; DROP INDEX entry_app; DELETE FROM charged;
   ALTER TABLE entry ADD COLUMN by_wider TEXT;
   UPDATE entry SET by_wider = by_network || '/' WHERE quota IS NOT NULL;
   CREATE INDEX entry_quota ON entry (quota) WHERE quota IS NOT NULL;
   CREATE INDEX entry_wider ON entry (quota, by_wider) WHERE quota IS NOT NULL;
   CREATE INDEX entry_app ON entry (quota, by_client) WHERE quota IS NOT NULL;
   CREATE INDEX entry_app_wider ON entry (quota, by_client, by_wider) WHERE quota IS NOT NULL;
   ${triggers(['network', 'wider'], ['wider'])}
   UPDATE entry SET quota = quota WHERE quota IS NOT NULL;`,
];

/**
 * Part of a migration's text. Like the migration, it must never be edited. An entry counts towards these networks of every
 * client, and towards those of its own.
 */
function triggers(ofAll: readonly string[], ofClient: readonly string[]): string {
  const bytes = (row: string) => `octet_length(${row}.payload) + 1024`;
  const parts = (client: string, networks: readonly string[]) =>
    ["'*'", ...networks.map((name) => `NEW.by_${name}`)].map(
      (network) => `(NEW.quota, ${client}, ${network}, ${bytes('NEW')})`,
    );
  const charge = `INSERT INTO charged VALUES ${[...parts("'*'", ofAll), ...parts('NEW.by_client', ofClient)].join(', ')}
     ON CONFLICT (quota, client, network) DO UPDATE SET bytes = bytes + excluded.bytes;`;
  const networks = ofAll.map((name) => `OLD.by_${name}`).join(', ');
  const which = `quota = OLD.quota AND client IN ('*', OLD.by_client) AND network IN ('*', ${networks})`;
  const release = `UPDATE charged SET bytes = bytes - (${bytes('OLD')}) WHERE ${which};
     DELETE FROM charged WHERE ${which} AND bytes <= 0;`;
  const columns = ['payload', 'quota', ...ofAll.map((name) => `by_${name}`), 'by_client'].join(', ');
  return `CREATE TRIGGER entry_charged AFTER INSERT ON entry WHEN NEW.quota IS NOT NULL BEGIN ${charge} END;
   CREATE TRIGGER entry_released AFTER DELETE ON entry WHEN OLD.quota IS NOT NULL BEGIN ${release} END;
   CREATE TRIGGER entry_recharged_from AFTER UPDATE OF ${columns} ON entry WHEN OLD.quota IS NOT NULL BEGIN ${release} END;
   CREATE TRIGGER entry_recharged_to AFTER UPDATE OF ${columns} ON entry WHEN NEW.quota IS NOT NULL BEGIN ${charge} END;`;
}

export const SCHEMA_VERSION = MIGRATIONS.length;

/** Reads from a database whether it is ours, and its version. */
export function identityOf(database: DatabaseSync): {
  readonly ours: boolean;
  readonly version: number;
} {
  const number = (name: string) => Number(database.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0);
  const version = number('user_version');
  const application = number('application_id');
  const entries = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'entry'").get();
  // Version 1 did not write an application id.
  const ours = application === APPLICATION_ID || (application === 0 && version === 1 && entries !== undefined);
  return { ours, version };
}

/** Upgrades a database of any version to the current one, in one transaction: a crash leaves it as it was. */
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
