import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { GatewayError } from '../errors.ts';
import { contextOf, openWithAny, seal } from './cipher.ts';
import type { RawStore } from './store.ts';

/** The kind of the one entry that is not stored under a keyed hash, because it holds the hash key. */
export const INDEX_KIND = 'StoreKeys';
const ID = 'index';

/** Returns the key that ids are hashed with. Throws GatewayError `store_unavailable`. */
export type IndexKey = () => Promise<KeyObject>;

const FOREIGN =
  'The store was sealed with a secret that is not configured: set it as `secret` or in `furtherSecrets`, or use another store.';

/**
 * The key for hashing ids belongs to the store and is kept in it, sealed like everything else. The operator's secret
 * can therefore change without any id changing. The key is generated when the store is new.
 * @param openKeys the keys that open payloads; the first one seals
 */
export function indexKey(inner: RawStore, openKeys: readonly KeyObject[]): IndexKey {
  let known: KeyObject | undefined;
  let looking: Promise<KeyObject> | undefined;

  const stored = async (): Promise<KeyObject | undefined> => {
    const entry = await inner.get(INDEX_KIND, ID);
    if (entry === undefined) return undefined;
    try {
      return createSecretKey(openWithAny(openKeys, entry), 'base64url');
    } catch (cause) {
      throw new GatewayError('store_unavailable', { message: FOREIGN, cause });
    }
  };
  const find = async (): Promise<KeyObject> => {
    const found = await stored();
    if (found !== undefined) return found;
    const key = createSecretKey(randomBytes(16));
    const payload = seal(
      openKeys[0] as KeyObject,
      key.export().toString('base64url'),
      contextOf({ kind: INDEX_KIND, id: ID }),
    );
    const entry = { kind: INDEX_KIND, id: ID, payload, expiresAt: undefined, references: {} };
    if (await inner.commit([{ op: 'create', entry }])) return key;
    const others = await stored();
    if (others === undefined) throw new GatewayError('store_unavailable');
    return others;
  };

  return async () => {
    if (known !== undefined) return known;
    looking ??= find().finally(() => {
      looking = undefined;
    });
    known = await looking;
    return known;
  };
}
