import type { OpenedKind, StoreKind, StoreSecrets } from '../opened-store.ts';
import type { Clock } from '../store.ts';
import { secretsBeside } from './secret.ts';
import { sqliteStore } from './sqlite-store.ts';

/** Opens a store in SQLite. See openStore. */
export function openSqlite({ path }: StoreKind<'sqlite'>, { secret }: StoreSecrets, clock: Clock): OpenedKind {
  const raw = sqliteStore(path, clock);
  return { raw, secrets: secret === undefined ? secretsBeside(path) : [secret] };
}
