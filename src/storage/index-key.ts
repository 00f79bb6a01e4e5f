import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { GatewayError } from '../errors.ts';
import { contextOf, openWithAny, seal } from './cipher.ts';
import type { RawStore } from './store.ts';

/** The one entry that is not stored under a keyed hash, because it holds the hash key. */
export const INDEX_KEY = { kind: 'StoreKeys', id: 'index' } as const;

/** Begins what an unfinished copy holds instead of its key, so that no gate, not even an older one, opens it. */
const UNFINISHED = 'unfinished copy of ';

/** @param key the sealed key of the store that is copied */
export function unfinishedCopy(key: string): string {
  return `${UNFINISHED}${key} by `;
}

const FOREIGN =
  'The store was sealed with a secret that is not configured: set it as `secret` or in `furtherSecrets`, or use another store.';
const UNFINISHED_MESSAGE =
  'The store holds an unfinished copy of another one: run `coursegate store copy` again, until it says that the copy is whole.';

/**
 * The key that ids are hashed with. It belongs to the store and is kept in it, sealed like everything else. The operator's
 * secret can therefore change without any id changing. The key is generated when the store is new. Throws GatewayError
 * `store_unavailable`.
 * @param openKeys the keys that open payloads; the first one seals
 */
export async function indexKey(inner: RawStore, openKeys: readonly KeyObject[]): Promise<KeyObject> {
  const stored = async (): Promise<KeyObject | undefined> => {
    const entry = await inner.get(INDEX_KEY.kind, INDEX_KEY.id);
    if (entry === undefined) return undefined;
    try {
      return createSecretKey(openWithAny(openKeys, entry), 'base64url');
    } catch (cause) {
      const message = entry.payload.startsWith(UNFINISHED) ? UNFINISHED_MESSAGE : FOREIGN;
      throw new GatewayError('store_unavailable', { message, cause });
    }
  };
  const found = await stored();
  if (found !== undefined) return found;
  const key = createSecretKey(randomBytes(16));
  const payload = seal(openKeys[0] as KeyObject, key.export().toString('base64url'), contextOf(INDEX_KEY));
  const entry = { ...INDEX_KEY, payload, expiresAt: undefined, references: {} };
  if (await inner.commit([{ op: 'create', entry }])) return key;
  const others = await stored();
  if (others === undefined) throw new GatewayError('store_unavailable');
  return others;
}
