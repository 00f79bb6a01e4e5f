import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { backup } from 'node:sqlite';
import type { Config } from '../../config/schema.ts';
import { draftOf, publish } from '../new-file.ts';
import { openToRead } from './file.ts';
import { secretPath } from './secret.ts';

/** Copies all pages in one step: a copy in several steps restarts whenever the gate writes in between. */
const ALL_PAGES = 2 ** 31 - 1;

/** Why there is no file to copy, by kind of store. */
const NOT_OURS = {
  memory: 'There is nothing to back up: this store is in memory.',
  redis:
    'This store is in Redis, which keeps its own copies: back up its append-only file, and keep `secret` elsewhere.',
  postgres: 'This store is in PostgreSQL: back up its database, and keep `secret` elsewhere.',
  mysql: 'This store is in MariaDB or MySQL: back up its database, and keep `secret` elsewhere.',
} as const;

/**
 * Copies an embedded store to `to` as it is at one point in time, while the gate keeps running. The copy is verified,
 * readable by the owner only, and appears atomically. Returns the path of the file that was copied, and that of the secret
 * that the store generated for itself, if there is one. Throws Error if `to` exists, and StoreOpenError if the store
 * cannot be read.
 */
export async function backupStore(store: Config['store'], to: string) {
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
