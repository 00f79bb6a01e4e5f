import type { Audit } from '../operations/audit.ts';
import type { Grants } from './grants.ts';

/** Ends an app's connection because the backend no longer accepts it. */
export function endConnection(
  grants: Pick<Grants, 'revoke'>,
  audit: Audit,
): (
  member: { readonly sub: string; readonly clientId: string; readonly grantId: string },
  reason: string,
) => Promise<void> {
  return async ({ sub, clientId, grantId }, reason) => {
    // Of concurrent requests that notice it, only one ends the connection.
    if (!(await grants.revoke(grantId, { member: sub }, { by: 'backend', reason: 'session_over', note: reason })))
      return;
    audit({ action: 'backend_session_over', by: 'backend', reason, clientId, grantId, member: sub });
  };
}
