import { createHmac, type KeyObject } from 'node:crypto';
import { networkOf } from '../../http/client-network.ts';
import type { Provenance } from '../../http/provenance.ts';
import { foldAccountName } from '../../oauth/account-name.ts';
import type { Audit } from '../../operations/audit.ts';
import { createLogThrottle } from '../../operations/log-throttle.ts';
import type { Clock } from '../../storage/store.ts';

/** Why a sign-in on the gate's own pages failed. */
type Failed =
  | 'wrong_credentials'
  | 'too_many_attempts'
  | 'cancelled'
  | 'proof_refused'
  | 'account_not_allowed'
  | 'suspended'
  | 'login_unavailable';

/** The most lines a minute for failures, so that password guessing from many addresses does not fill the disk. */
const LINES = 300;

/**
 * Audits sign-ins on the gate's own pages. The typed account name is never logged, since it is often a password typed into the wrong field. A hash of it, keyed
 * with `key`, distinguishes guesses at one account from typos in many.
 */
export function signInEvents(audit: Audit, clock: Clock, key: KeyObject) {
  const throttled = createLogThrottle({ clock, lines: LINES, apart: 0 });
  const app = { clientId: undefined, grantId: undefined };
  return {
    begun: (member: string): void => audit({ action: 'session_begun', member, ...app }),
    /**
     * @param username - the typed account name, if there was one
     * @param member - whose account it is, if that was proved
     */
    failed(from: Provenance, reason: Failed, username?: string, member?: string): void {
      const accountHash = username === undefined ? undefined : hashOf(username, key);
      throttled(`${networkOf(from.clientAddress)} ${reason}`, (suppressed) =>
        audit({
          action: 'sign_in_failed',
          member,
          reason,
          accountHash,
          ...app,
          suppressed: suppressed || undefined,
        }),
      );
    },
  };
}

export type SignInEvents = ReturnType<typeof signInEvents>;

function hashOf(username: string, key: KeyObject): string {
  return createHmac('sha256', key).update(foldAccountName(username)).digest('base64url').slice(0, 22);
}
