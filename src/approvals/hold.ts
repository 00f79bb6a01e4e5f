import type { Audit, AuditAction } from '../operations/audit.ts';
import type { Clock, Store } from '../storage/store.ts';
import { type Approval, type HeldCall, type Shown, storedApprovals } from './approvals.ts';

/**
 * What becomes of a call: it must be made now, it waits for its member, or they declined it. `unasked`: there is nothing
 * to ask them. Times are ISO 8601.
 */
export type HoldOutcome =
  | { readonly kind: 'approved' }
  | { readonly kind: 'unasked' }
  | { readonly kind: 'waiting'; readonly url: string; readonly expiresAt: string }
  | { readonly kind: 'declined'; readonly expiresAt: string };

/**
 * Holds a call until its member has approved exactly that call. `shown` is called if it begins to wait; if it returns
 * undefined, nobody is asked. Rejects with GatewayError `store_unavailable`, and as `shown` does.
 */
export type Hold = (call: HeldCall, shown: () => Promise<Shown | undefined>) => Promise<HoldOutcome>;

interface Holding {
  readonly store: Store;
  readonly clock: Clock;
  readonly audit: Audit;
  /** The address of the page on which the member decides. */
  readonly pageOf: (id: string) => string;
}

export function createHold({ store, clock, audit, pageOf }: Holding) {
  const report = (
    action: AuditAction,
    { member, clientId, grantId, what }: Approval | HeldCall,
    id: string,
    reason?: string,
  ) => audit({ action, member, clientId, grantId, ...what, approval: id, reason });
  const approvals = storedApprovals(store, clock, (approval) =>
    report('approval_expired', approval, approval.id, approval.state === 'waiting' ? 'undecided' : 'unused'),
  );
  const hold: Hold = async (call, shown) => {
    const admitted = await approvals.admit(call, shown);
    if (admitted.kind === 'approved') {
      report('approval_used', call, admitted.id);
      return admitted;
    }
    if (admitted.kind === 'unasked') return admitted;
    const { kind, id } = admitted;
    const expiresAt = new Date(admitted.expiresAt * 1000).toISOString();
    if (kind === 'declined') return { kind, expiresAt };
    if (admitted.isNew) report('approval_requested', call, id);
    return { kind, url: pageOf(id), expiresAt };
  };
  return { hold, expire: approvals.expire };
}
