import { randomUUID } from 'node:crypto';
import type { Store } from './store.ts';

/** Writes, reads and deletes as every request does. This finds a user that may not do so, or what is in the way. */
export async function tryWhatIsDone(store: Store): Promise<void> {
  const [kind, id] = ['StartCheck', randomUUID()];
  const references = { grant: id };
  // Vital writes, which the gate sends however little room is left: here the store itself is tested.
  const commit: Store['commit'] = (mutations) => store.commit(mutations, 'vital');
  await commit([{ op: 'create', entry: { kind, id, payload: '{}', expiresAt: undefined, references } }]);
  await commit([
    { op: 'put', entry: { kind, id, payload: '{}', expiresAt: Math.floor(Date.now() / 1000) + 60, references } },
    { op: 'consume', kind, id },
  ]);
  await store.get(kind, id);
  await store.findBy(kind, 'grant', id, 1);
  await commit([{ op: 'deleteBy', kind, name: 'grant', value: id }]);
  await store.sweep(1);
}
