import { createHmac, randomBytes } from 'node:crypto';
import { GatewayError } from '../errors.ts';
import { once } from '../http/once.ts';
import { jsonEntry, readJson, type Store } from '../storage/store.ts';

const KIND = 'VersionKey';
const ID = 'current';

/** A digest is recognised, so that it is not digested again. */
const DIGEST = /^hmac:[\w-]{43}$/;

/**
 * Digests the versions of members before they are stored: a backend's version may be a password hash. The key is in the
 * store, sealed like everything else, so that neither a new secret nor another replica changes any digest.
 * Throws GatewayError `store_unavailable`.
 */
export function versionDigest(store: Store): (version: string) => Promise<string> {
  const key = once(() => storedKey(store), { forgetFailure: true });
  return async (version) => {
    if (DIGEST.test(version)) return version;
    return `hmac:${createHmac('sha256', await key())
      .update(version)
      .digest('base64url')}`;
  };
}

async function storedKey(store: Store): Promise<string> {
  const made = { key: randomBytes(32).toString('base64url') };
  const stored = () => readJson<typeof made>(store, KIND, ID);
  const found = await stored();
  if (found !== undefined) return found.key;
  if (await store.commit([{ op: 'create', entry: jsonEntry(KIND, ID, made, undefined) }], 'vital')) return made.key;
  // Another replica was faster.
  const theirs = await stored();
  if (theirs === undefined) throw new GatewayError('store_unavailable');
  return theirs.key;
}
