import { DatabaseSync } from 'node:sqlite';
import { writeOnce } from '../new-file.ts';
import { StoreOpenError } from '../open-failure.ts';

const SQLITE_BUSY = 5;

/** Milliseconds. A gate that is shutting down may still hold the lock when its successor starts. */
const PATIENCE = 1000;

/**
 * Locks a store's file for one gate until it is released or the process ends in any way. It is an operating system lock
 * on a file next to the store, and needs no cleanup after a crash. SQLite itself would allow several processes, but
 * they would not learn of each other's revocations, and on a disk shared by two machines they would corrupt the file.
 * Throws StoreOpenError if another gate holds the lock.
 */
export function lockStore(path: string): () => void {
  const beside = `${path}-lock`;
  // If it exists, it must not be opened: closing any descriptor of a file drops all of the process's locks on it.
  writeOnce(beside, '');
  const lock = new DatabaseSync(beside, { timeout: PATIENCE });
  try {
    // Nothing is ever written: the empty file only carries the lock.
    lock.exec('BEGIN EXCLUSIVE');
  } catch (thrown) {
    lock.close();
    if (((thrown as { errcode?: number }).errcode ?? 0) % 256 !== SQLITE_BUSY) throw thrown;
    throw new StoreOpenError('in-use', path, `${beside} is held`);
  }
  return () => lock.close();
}
