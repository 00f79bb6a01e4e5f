import type { OpenedStore, StoreKind, StoreOpening } from '../opened-store.ts';
import { writingProbe } from '../probe.ts';
import { sealed } from '../seal.ts';
import { withoutReplicas } from '../without-replicas.ts';
import { secretsBeside } from './secret.ts';
import { sqliteStore } from './sqlite-store.ts';

/** Opens a store in SQLite. See openStore. */
export function openSqlite(
  { path }: StoreKind<'sqlite'>,
  { named: { secret, furtherSecrets = [] }, clock, onDamaged }: StoreOpening,
): OpenedStore {
  const inner = sqliteStore(path, clock);
  const [first, ...older] = secret === undefined ? secretsBeside(path) : [secret];
  const opened = sealed(inner, [first, ...older, ...furtherSecrets], onDamaged);
  return { ...opened, ...withoutReplicas(clock), probe: writingProbe(opened.store, clock) };
}
