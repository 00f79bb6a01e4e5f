import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { backup } from 'node:sqlite';
import type { Config } from '../config/schema.ts';
import { draftOf, publish } from './new-file.ts';
import { secretPath } from './secret.ts';
import { openToRead } from './sqlite-file.ts';

/** All pages in one step: copied in several, it begins again whenever the gate has written in between. */
const ALL_PAGES = 2 ** 31 - 1;

/** Why there is no file here to copy. */
const NOT_OURS = {
  memory: 'There is nothing to copy: this store is kept in memory.',
  redis:
    'This store is in Redis, which keeps its own copies: back up its append-only file, and keep `secret` elsewhere.',
} as const;

export interface Backup {
  /** The file that was copied. */
  readonly from: string;
  /** The secret that the store made for itself, when it did. */
  readonly beside: string | undefined;
}

/**
 * Copies an embedded store to `to` as it is at one moment, while the gate goes on. The copy is checked, readable by the
 * owner only, and appears whole. Throws Error when `to` is taken, StoreOpenError when the store cannot be read.
 */
export async function backupStore(store: Config['store'], to: string): Promise<Backup> {
  if (store.kind !== 'sqlite') throw new Error(NOT_OURS[store.kind]);
  if (existsSync(to)) throw taken(to);
  const draft = draftOf(to);
  const database = openToRead(store.path);
  try {
    closeSync(openSync(draft, 'wx', 0o600));
    await backup(database, draft, { rate: ALL_PAGES });
    openToRead(draft).close();
    publish(draft, to);
  } catch (thrown) {
    throw (thrown as NodeJS.ErrnoException).code === 'EEXIST' ? taken(to) : thrown;
  } finally {
    database.close();
    for (const left of ['', '-wal', '-shm']) rmSync(draft + left, { force: true });
  }
  const beside = secretPath(store.path);
  return { from: store.path, beside: existsSync(beside) ? beside : undefined };
}

function taken(to: string): Error {
  return new Error(`${to} is there already, and a backup is never written over. Name another file.`);
}
