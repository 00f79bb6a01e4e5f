import type { AccountControl, CommandedBy } from '../authorization-server/administration/account-control.ts';
import type { KeyControl } from '../authorization-server/administration/key-control.ts';
import type { Audit } from '../operations/audit.ts';
import type { Reseal } from '../storage/reseal.ts';

/** The parts of the gate that lookups and actions use. Every method throws GatewayError `store_unavailable`. */
export interface Controls {
  readonly account: AccountControl;
  readonly keys: KeyControl;
  readonly store: { readonly reseal: Reseal };
  /** Sends pending events now. Throws GatewayError `not_found` when no events are configured. */
  readonly events: { retry(decision: CommandedBy): Promise<{ readonly pending: number }> };
  /** Says how each backend answers to assertions, valid and invalid. */
  readonly assertions: { try(member: string | undefined): Promise<readonly object[]> };
  readonly audit: Audit;
}
