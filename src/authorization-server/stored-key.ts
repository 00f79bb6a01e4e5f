import { randomBytes } from 'node:crypto';
import { GatewayError } from '../errors.ts';
import { jsonEntry, readJson, type Store } from '../storage/store.ts';

const ID = 'current';

/**
 * A key of 32 bytes in base64url that is kept in the store under a kind of its own, sealed like everything else, so that
 * neither a new secret nor another replica changes it. Throws GatewayError `store_unavailable`.
 */
export async function storedKey(store: Store, kind: string): Promise<string> {
  const made = { key: randomBytes(32).toString('base64url') };
  const stored = () => readJson<typeof made>(store, kind, ID);
  const found = await stored();
  if (found !== undefined) return found.key;
  if (await store.commit([{ op: 'create', entry: jsonEntry(kind, ID, made, undefined) }], 'vital')) return made.key;
  // Another replica was faster.
  const theirs = await stored();
  if (theirs === undefined) throw new GatewayError('store_unavailable');
  return theirs.key;
}
