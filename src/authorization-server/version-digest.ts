import { createHmac } from 'node:crypto';
import { once } from '../http/once.ts';
import type { Store } from '../storage/store.ts';
import { storedKey } from './stored-key.ts';

const KIND = 'VersionKey';

/** A digest is recognised, so that it is not digested again. */
const DIGEST = /^hmac:[\w-]{43}$/;

/**
 * Digests the versions of members before they are stored: a backend's version may be a password hash. The key is in the
 * store, so that neither a new secret nor another replica changes any digest.
 * Throws GatewayError `store_unavailable`.
 */
export function versionDigest(store: Store): (version: string) => Promise<string> {
  const key = once(() => storedKey(store, KIND), { forgetFailure: true });
  return async (version) => {
    if (DIGEST.test(version)) return version;
    return `hmac:${createHmac('sha256', await key())
      .update(version)
      .digest('base64url')}`;
  };
}
