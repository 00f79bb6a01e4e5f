import { GatewayError } from '../../errors.ts';
import type { Audit, AuditAction } from '../../operations/audit.ts';
import type { Keyring } from '../keyring.ts';
import type { CommandedBy } from './account-control.ts';
import { isoTime } from './grant-view.ts';
import { readSigningKey } from './key-import.ts';

/**
 * The operator's commands on the signing keys. Every method throws GatewayError `store_unavailable`.
 * @param onChanged - called after the keys have changed
 */
export function createKeyControl(keyring: Keyring, onChanged: () => void, audit: Audit) {
  const list = async () => ({
    keys: keyring.list().map(({ kid, state, since, until, publicKey }) => ({
      kid,
      alg: publicKey.alg,
      state,
      since: isoTime(since),
      until: isoTime(until),
      public_key: publicKey,
    })),
  });
  const done = (action: AuditAction, keyIds: readonly string[], decision: CommandedBy) => {
    onChanged();
    for (const keyId of keyIds) audit({ action, keyId, ...decision });
    return list();
  };

  return {
    /** All published keys, without private parts. */
    async list() {
      // Another replica may have just changed them.
      if (await keyring.refresh()) onChanged();
      return list();
    },

    /** Seconds for which verifiers may still not know a next key; 0 if the keys can be rotated. */
    unknownFor: keyring.unknownFor,

    /** Signs with the next key of each algorithm. Throws `conflict` if one was published too recently, unless `now` is true. */
    async rotate(now: boolean, decision: CommandedBy) {
      const missing = await keyring.rotate(now);
      if (missing > 0)
        throw new GatewayError('conflict', {
          message: `The next key was published less than an hour ago; verifiers may not have it yet. Wait ${Math.ceil(missing / 60)} minutes, or use --now ("now": true).`,
        });
      return done('keys_rotated', keyring.signers(), decision);
    },

    /** Imports a PEM text, a JWK or a JWKS. Throws `invalid_request` for an unusable key, `conflict` for an existing one. */
    async import(given: unknown, decision: CommandedBy) {
      const key = await readSigningKey(given);
      if (!(await keyring.replaceNext(key)))
        throw new GatewayError('conflict', { message: `The key ${key.kid} already exists.` });
      return done('key_imported', [key.kid], decision);
    },

    /** Removes a key at once: its signatures become invalid. Throws `not_found`. */
    async remove(kid: string, decision: CommandedBy) {
      if (!(await keyring.remove(kid)))
        throw new GatewayError('not_found', { message: 'No published key has this id.' });
      return done('key_removed', [kid], decision);
    },
  };
}

export type KeyControl = ReturnType<typeof createKeyControl>;
