import { chmodSync, closeSync, existsSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { draftOf, publish } from './new-file.ts';
import { asStoreOpenError, StoreOpenError } from './open-failure.ts';
import { REFERENCE_NAMES } from './store.ts';

/** Bumped, with a migration, whenever the table changes. */
const SCHEMA_VERSION = 1;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS entry (
    kind TEXT NOT NULL, id TEXT NOT NULL, payload TEXT NOT NULL,
    expires_at INTEGER, consumed_at INTEGER,
    ref_grant TEXT, ref_member TEXT, ref_client TEXT, ref_uid TEXT,
    PRIMARY KEY (kind, id)
  ) WITHOUT ROWID, STRICT;
  CREATE INDEX IF NOT EXISTS entry_expiry ON entry (expires_at) WHERE expires_at IS NOT NULL;
  ${REFERENCE_NAMES.map((name) => `CREATE INDEX IF NOT EXISTS entry_${name} ON entry (kind, ref_${name}) WHERE ref_${name} IS NOT NULL;`).join('\n')}
`;

/** Opens the database of a store, made when it is not there. Throws StoreOpenError. */
export function openDatabase(path: string): DatabaseSync {
  try {
    if (!existsSync(path)) create(path);
    return openSound(path);
  } catch (thrown) {
    throw asStoreOpenError(path, thrown);
  }
}

/** Opens a database only to read it. Throws StoreOpenError. */
export function openToRead(path: string): DatabaseSync {
  try {
    const database = new DatabaseSync(path, { readOnly: true, timeout: 5000 });
    return closingOnFailure(database, () => judge(path, database));
  } catch (thrown) {
    throw asStoreOpenError(path, thrown);
  }
}

/** A new database appears whole: an empty file is therefore never one that was only just begun. */
function create(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // Laid beside a new file, the log of a lost one would be replayed into it.
  if (existsSync(`${path}-wal`)) throw new StoreOpenError('damaged', path, 'its -wal file is there and it is not');
  const draft = draftOf(path);
  try {
    // Made with its mode before SQLite sees it: the write-ahead files copy the mode of the main file.
    closeSync(openSync(draft, 'wx', 0o600));
    const database = new DatabaseSync(draft);
    closingOnFailure(database, () => {
      database.exec(`PRAGMA journal_mode = WAL; ${SCHEMA} PRAGMA user_version = ${SCHEMA_VERSION};`);
    }).close();
    publish(draft, path);
  } catch (thrown) {
    rmSync(draft, { force: true });
    // Another process was first: its file is as good.
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
  }
}

function openSound(path: string): DatabaseSync {
  const file = statSync(path);
  if (!file.isFile()) throw new StoreOpenError('unopenable', path, 'it is not a file');
  if (file.size === 0) throw new StoreOpenError('damaged', path, 'it is empty');
  chmodSync(path, 0o600);
  const database = new DatabaseSync(path, { timeout: 5000 });
  return closingOnFailure(database, () => {
    judge(path, database);
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    database.exec(`${SCHEMA} PRAGMA user_version = ${SCHEMA_VERSION};`);
  });
}

/** Reads every page once: what is wrong is told at the start, and not by the request that happens on it. */
function judge(path: string, database: DatabaseSync): void {
  const version = Number(database.prepare('PRAGMA user_version').get()?.user_version ?? 0);
  if (version > SCHEMA_VERSION) {
    throw new StoreOpenError('newer', path, `schema ${version}, this one knows ${SCHEMA_VERSION}`);
  }
  const found = String(database.prepare('PRAGMA quick_check(1)').get()?.quick_check);
  if (found !== 'ok') throw new StoreOpenError('damaged', path, found.replaceAll(/\s+/g, ' '));
}

function closingOnFailure(database: DatabaseSync, work: () => void): DatabaseSync {
  try {
    work();
    return database;
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}
