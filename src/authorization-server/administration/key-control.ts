import { GatewayError } from '../../errors.ts';
import type { Audit, AuditAction } from '../../operations/audit.ts';
import type { Keyring } from '../keyring.ts';
import type { Decision } from './account-control.ts';
import { isoTime } from './grant-view.ts';
import { readSigningKey } from './key-import.ts';

/** What an operator can do about the signing keys. */
export interface KeyControl {
  /** Every key that is published, and nothing private. */
  list(): Promise<object>;
  /** The next key signs. Throws `conflict` when it is published for too short a time, unless it is wanted `now`. */
  rotate(now: boolean, decision: Decision): Promise<object>;
  /** In: a PEM text, a JWK or a JWKS. Throws `invalid_request` when it is none that can sign, `conflict` when it is here. */
  import(key: unknown, decision: Decision): Promise<object>;
  /** Ends a key at once: what it signed verifies nowhere any more. Throws `not_found`. */
  remove(kid: string, decision: Decision): Promise<object>;
}
// Every method throws GatewayError `store_unavailable`.

export interface KeyControlOptions {
  readonly keyring: Keyring;
  /** Called once the keys are others. */
  readonly onChanged: () => void;
  readonly audit: Audit;
}

export function createKeyControl({ keyring, onChanged, audit }: KeyControlOptions): KeyControl {
  const list = async () => ({
    keys: keyring.list().map(({ kid, state, since, until, publicKey }) => ({
      kid,
      alg: publicKey.alg,
      state,
      since: isoTime(since),
      ...(until === undefined ? {} : { until: isoTime(until) }),
      public_key: publicKey,
    })),
  });
  const done = (action: AuditAction, keyId: string, decision: Decision) => {
    onChanged();
    audit({ action, keyId, member: undefined, clientId: undefined, grantId: undefined, ...decision });
    return list();
  };

  return {
    async list() {
      // Another replica may have changed them a moment ago.
      if (await keyring.refresh()) onChanged();
      return list();
    },

    async rotate(now, decision) {
      const missing = await keyring.rotate(now);
      if (missing > 0) {
        throw new GatewayError('conflict', {
          message: `The next key has been published too short: who verifies may not know it for ${Math.ceil(missing / 60)} minutes more. Wait, or say "now": true.`,
        });
      }
      return done('keys_rotated', keyring.signing().kid, decision);
    },

    async import(given, decision) {
      const key = await readSigningKey(given);
      if (!(await keyring.replaceNext(key)))
        throw new GatewayError('conflict', { message: `The key ${key.kid} is here already.` });
      return done('key_imported', key.kid, decision);
    },

    async remove(kid, decision) {
      if (!(await keyring.remove(kid)))
        throw new GatewayError('not_found', { message: 'No key of this name is published.' });
      return done('key_removed', kid, decision);
    },
  };
}
