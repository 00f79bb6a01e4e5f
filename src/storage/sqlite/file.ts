import { chmodSync, closeSync, existsSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { draftOf, publish } from '../new-file.ts';
import { asStoreOpenError, StoreOpenError } from '../open-failure.ts';
import { type CHECK_LIMITS, judgePages, judgePagesWithin } from './check.ts';
import { lockStore } from './lock.ts';
import { judgeIdentity, migrate } from './schema.ts';

export type OpenDatabase = ReturnType<typeof openDatabase>;

/**
 * Opens the database of a store exclusively for this gate. It is created if it does not exist, and migrated to this
 * version. On StoreOpenError the existing file is left as it was. Returns the check of a large file as well, which may
 * still be running, and `unlock`, which releases the lock on the file and is to be called after the database is closed.
 */
export function openDatabase(path: string, limits: typeof CHECK_LIMITS) {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const unlock = lockStore(path);
    try {
      if (!existsSync(path)) create(path);
      return { ...openSound(path, limits), unlock };
    } catch (thrown) {
      unlock();
      throw thrown;
    }
  } catch (thrown) {
    throw asStoreOpenError(path, thrown);
  }
}

const DURABLE = 'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;';

/** Milliseconds that a connection may wait for a lock while it is being opened. */
const OPENING = 5000;

/** Opens a database read-only. Throws StoreOpenError. */
export function openToRead(path: string): DatabaseSync {
  try {
    const database = new DatabaseSync(path, { readOnly: true, timeout: 5000 });
    return closingOnFailure(database, () => {
      judgeIdentity(path, database);
      judgePages(path, database);
      return database;
    });
  } catch (thrown) {
    throw asStoreOpenError(path, thrown);
  }
}

/** A new database appears atomically, so an empty file is never one that is still being created. */
function create(path: string): void {
  // If the main file was lost, its leftover log would be replayed into the new file.
  if (existsSync(`${path}-wal`)) throw new StoreOpenError('damaged', path, 'it is missing, but its -wal file exists');
  const draft = draftOf(path);
  try {
    // Created with its mode before SQLite opens it: the write-ahead files copy the mode of the main file.
    closeSync(openSync(draft, 'wx', 0o600));
    const database = new DatabaseSync(draft);
    closingOnFailure(database, () => {
      database.exec('PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL');
      migrate(database, 0);
    });
    database.close();
    publish(draft, path);
  } catch (thrown) {
    rmSync(draft, { force: true });
    // Another process created the file first. That one is used.
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
  }
}

function openSound(path: string, limits: typeof CHECK_LIMITS) {
  const file = statSync(path);
  if (!file.isFile()) throw new StoreOpenError('unopenable', path, 'it is not a file');
  if (file.size === 0) throw new StoreOpenError('damaged', path, 'it is empty');
  const database = new DatabaseSync(path, { timeout: OPENING });
  return closingOnFailure(database, () => {
    const version = judgeIdentity(path, database);
    const check = judgePagesWithin(path, database, limits);
    chmodSync(path, 0o600);
    database.exec(DURABLE);
    migrate(database, version);
    return { database, check };
  });
}

function closingOnFailure<T>(database: DatabaseSync, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    database.close();
    throw thrown;
  }
}
