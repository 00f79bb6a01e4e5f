import type { DatabaseSync } from 'node:sqlite';
import { StoreOpenError } from '../open-failure.ts';
import { REFERENCE_NAMES } from '../store.ts';

/** "cgat", at byte 68 of the file header: distinguishes our stores from other SQLite databases. */
const APPLICATION_ID = 0x63676174;

const BYTES = (row: string) => `octet_length(${row}.payload) + 1024`;
/** The networks of every client, and those of its own, that an entry counts towards; '*' is all of them. */
const OF_ALL = ['*', 'by_network', 'by_wider'];
const OF_CLIENT = ['*', 'by_wider'];
const CHARGED_COLUMNS = 'payload, quota, by_network, by_wider, by_client';

const CHARGE = `INSERT INTO charged VALUES ${[
  ...OF_ALL.map((network) => charged("'*'", network)),
  ...OF_CLIENT.map((network) => charged('NEW.by_client', network)),
].join(', ')} ON CONFLICT (quota, client, network) DO UPDATE SET bytes = bytes + excluded.bytes;`;
const OF_OLD = `quota = OLD.quota AND client IN ('*', OLD.by_client) AND network IN ('*', OLD.by_network, OLD.by_wider)`;
const RELEASE = `UPDATE charged SET bytes = bytes - (${BYTES('OLD')}) WHERE ${OF_OLD};
  DELETE FROM charged WHERE ${OF_OLD} AND bytes <= 0;`;

function charged(client: string, network: string): string {
  return `(NEW.quota, ${client}, ${network === '*' ? "'*'" : `NEW.${network}`}, ${BYTES('NEW')})`;
}

/**
 * Each migration upgrades a file from version n to n + 1, starting with the empty file. Never edit a released
 * migration: files written by it exist. Add a new one at the end, with a test on a file of the previous version.
 */
const MIGRATIONS: readonly string[] = [
  // `charged` has the totals of what strangers store, updated on every write and delete. The filler is the reserve
  // (space.ts).
  `CREATE TABLE entry (
     kind TEXT NOT NULL, id TEXT NOT NULL, payload TEXT NOT NULL,
     expires_at INTEGER, consumed_at INTEGER,
     ref_grant TEXT, ref_member TEXT, ref_client TEXT, ref_uid TEXT,
     quota TEXT, by_network TEXT, by_wider TEXT, by_client TEXT
   ) STRICT;
   CREATE UNIQUE INDEX entry_key ON entry (kind, id);
   CREATE INDEX entry_expiry ON entry (expires_at) WHERE expires_at IS NOT NULL;
   ${REFERENCE_NAMES.map((name) => `CREATE INDEX entry_${name} ON entry (kind, ref_${name}) WHERE ref_${name} IS NOT NULL;`).join('\n')}
   CREATE INDEX entry_quota ON entry (quota) WHERE quota IS NOT NULL;
   CREATE INDEX entry_network ON entry (quota, by_network) WHERE quota IS NOT NULL;
   CREATE INDEX entry_wider ON entry (quota, by_wider) WHERE quota IS NOT NULL;
   CREATE INDEX entry_app ON entry (quota, by_client) WHERE quota IS NOT NULL;
   CREATE INDEX entry_app_wider ON entry (quota, by_client, by_wider) WHERE quota IS NOT NULL;
   CREATE TABLE charged (
     quota TEXT NOT NULL, client TEXT NOT NULL, network TEXT NOT NULL, bytes INTEGER NOT NULL,
     PRIMARY KEY (quota, client, network)
   ) WITHOUT ROWID, STRICT;
   CREATE INDEX charged_most ON charged (quota, client, bytes);
   CREATE TRIGGER entry_charged AFTER INSERT ON entry WHEN NEW.quota IS NOT NULL BEGIN ${CHARGE} END;
   CREATE TRIGGER entry_released AFTER DELETE ON entry WHEN OLD.quota IS NOT NULL BEGIN ${RELEASE} END;
   CREATE TRIGGER entry_recharged_from AFTER UPDATE OF ${CHARGED_COLUMNS} ON entry
     WHEN OLD.quota IS NOT NULL BEGIN ${RELEASE} END;
   CREATE TRIGGER entry_recharged_to AFTER UPDATE OF ${CHARGED_COLUMNS} ON entry
     WHEN NEW.quota IS NOT NULL BEGIN ${CHARGE} END;
   CREATE TABLE reserve (filler BLOB NOT NULL) STRICT;
   PRAGMA application_id = ${APPLICATION_ID};`,
  'ALTER TABLE entry ADD COLUMN revision INTEGER NOT NULL DEFAULT 1',
];

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
    for (const migration of MIGRATIONS.slice(from)) database.exec(migration);
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
