import { networkOf } from '../http/client-network.ts';
import type { RequestRecord } from '../http/request-record.ts';
import type { Clock } from '../storage/store.ts';
import type { Audit } from './audit.ts';
import { createLogThrottle } from './log-throttle.ts';

const MINUTE = 60_000;
/** Lines per minute for all callers together: about 100 MB a day at worst. */
const LINES = 120;

/**
 * Audits refusals: at most one a minute per network, app and reason, with the number of similar ones that were
 * suppressed. Requests without a token are not audited: every app starts with one, to discover where to sign in (RFC
 * 9728 section 5.1).
 */
export function createDenials(audit: Audit, clock: Clock): (record: RequestRecord) => void {
  const throttled = createLogThrottle({ clock, lines: LINES, apart: MINUTE });
  return ({ provenance, principal, reason, route }) => {
    if (reason === 'no_token') return;
    const member = principal?.kind === 'member' ? principal : undefined;
    const { clientAddress: address, requestId } = provenance;
    throttled(`${networkOf(address)} ${member?.clientId ?? ''} ${reason}`, (suppressed) =>
      audit({
        action: 'access_denied',
        clientId: member?.clientId,
        grantId: member?.grantId,
        member: member?.sub,
        address,
        requestId,
        reason,
        route,
        ...(suppressed === 0 ? {} : { suppressed }),
      }),
    );
  };
}
