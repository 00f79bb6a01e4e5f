import { DatabaseSync } from 'node:sqlite';
import { NO_CHECK } from '../sqlite/check.ts';
import { migrate } from '../sqlite/schema.ts';
import type { Transaction, Writer } from '../sqlite/space.ts';
import { storeOn } from '../sqlite/sqlite-store.ts';
import { NO_LOG } from '../sqlite/sync.ts';
import type { Clock, RawStore } from '../store.ts';

/** A store on SQLite that lives as long as the process. */
export function memoryStore(clock: Clock): RawStore {
  const database = new DatabaseSync(':memory:');
  migrate(database, 0);
  const space = { write: <T>(_: Writer, transaction: Transaction<T>) => transaction(() => {}), compact: () => 0 };
  return storeOn({ database, space, log: NO_LOG, check: NO_CHECK, unlock() {} }, clock);
}
