import type { Audit } from '../operations/audit.ts';
import type { Grants } from './grants.ts';

/** Ends what an app was let in for because the backend lets it in no more. In: whose it is, and why. */
export function endConnection(
  grants: Pick<Grants, 'revoke'>,
  audit: Audit,
): (
  member: { readonly sub: string; readonly clientId: string; readonly grantId: string },
  reason: string,
) => Promise<void> {
  return async ({ sub, clientId, grantId }, reason) => {
    // Of many requests that find out at once, one ends it.
    if (!(await grants.revoke(grantId, { member: sub }, { by: 'backend', reason: 'session_over', note: reason })))
      return;
    const occasion = { clientId, grantId, member: sub, address: undefined, requestId: undefined };
    audit({ action: 'backend_session_over', by: 'backend', reason, ...occasion });
  };
}
