import { createHmac } from 'node:crypto';
import { networkOf } from '../../http/client-network.ts';
import type { Provenance } from '../../http/provenance.ts';
import { foldAccountName } from '../../oauth/account-name.ts';
import type { Audit } from '../../operations/audit.ts';
import { createRation } from '../../operations/ration.ts';
import type { Clock } from '../../storage/store.ts';

/** Why nobody was signed in on our own pages. */
type Failed =
  | 'wrong_credentials'
  | 'too_many_attempts'
  | 'cancelled'
  | 'proof_refused'
  | 'account_not_allowed'
  | 'login_unavailable';

/** What the audit is told of our own pages of the sign-in. */
export interface SignInEvents {
  readonly begun: (from: Provenance, member: string) => void;
  /** In: what was typed for an account, where somebody typed it. */
  readonly failed: (from: Provenance, reason: Failed, username?: string) => void;
}

/** Lines a minute, of all that fails: who guesses passwords from many addresses fills no disk. */
const LINES = 300;

/**
 * Never the account that was typed, since it is often a password in the wrong box: a keyed hash of it, the same for the
 * same account, tells one that is guessed at from many that mistype. In: the key of that.
 */
export function signInEvents(audit: Audit, clock: Clock, key: Buffer): SignInEvents {
  const ration = createRation({ clock, lines: LINES, apart: 0 });
  const told = ({ clientAddress: address, requestId }: Provenance) => ({
    clientId: undefined,
    grantId: undefined,
    address,
    requestId,
  });
  return {
    begun: (from, member) => audit({ action: 'session_begun', member, ...told(from) }),
    failed(from, reason, username) {
      const accountHash = username === undefined ? undefined : hashOf(username, key);
      ration(`${networkOf(from.clientAddress)} ${reason}`, (suppressed) =>
        audit({
          action: 'sign_in_failed',
          member: undefined,
          reason,
          accountHash,
          ...told(from),
          ...(suppressed === 0 ? {} : { suppressed }),
        }),
      );
    },
  };
}

function hashOf(username: string, key: Buffer): string {
  return createHmac('sha256', key).update(foldAccountName(username)).digest('base64url').slice(0, 22);
}
