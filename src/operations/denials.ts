import { networkOf } from '../http/client-network.ts';
import type { RequestRecord } from '../http/request-record.ts';
import type { Clock } from '../storage/store.ts';
import type { Audit } from './audit.ts';
import { createRation } from './ration.ts';

const MINUTE = 60_000;
/** Lines a minute of all callers together: some 100 MB a day at the very worst. */
const LINES = 120;

/**
 * Tells the audit of whom the gate refuses: of one network and app, for one reason, once a minute, with how many more there
 * were. Not of requests without a token: every app begins with one, to learn where to sign in (RFC 9728 §5.1).
 */
export function createDenials(audit: Audit, clock: Clock): (record: RequestRecord) => void {
  const ration = createRation({ clock, lines: LINES, apart: MINUTE });
  return ({ provenance, principal, reason, route }) => {
    if (reason === 'no_token') return;
    const member = principal?.kind === 'member' ? principal : undefined;
    const { clientAddress: address, requestId } = provenance;
    ration(`${networkOf(address)} ${member?.clientId ?? ''} ${reason}`, (suppressed) =>
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
