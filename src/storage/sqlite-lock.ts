import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { StoreOpenError } from './open-failure.ts';

const SQLITE_BUSY = 5;

/** A gate that was told to stop may still be closing when its successor starts. Milliseconds. */
const PATIENCE = 1000;

/**
 * Takes a store's file for one gate alone, until it is released or the process ends in whatever way: the lock is the
 * system's, on a file beside the store, and needs no tidying up after a crash. SQLite would let several in; but they
 * would not hear of each other's revocations, and on a disk shared by two machines they would ruin the file.
 * Throws StoreOpenError when another gate has it.
 */
export function lockStore(path: string): () => void {
  const beside = `${path}-lock`;
  makeOnce(beside);
  const lock = new DatabaseSync(beside, { timeout: PATIENCE });
  try {
    // Nothing is ever written: the file stays empty, and is only what the lock is on.
    lock.exec('BEGIN EXCLUSIVE');
  } catch (thrown) {
    lock.close();
    if (((thrown as { errcode?: number }).errcode ?? 0) % 256 !== SQLITE_BUSY) throw thrown;
    throw new StoreOpenError('in-use', path, `${beside} is held`);
  }
  return () => lock.close();
}

/** Never opened here when it exists: to close a file anywhere in a process is to lose the process's locks on it. */
function makeOnce(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
  }
}
