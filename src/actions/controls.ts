import type { AccountControl, CommandedBy } from '../authorization-server/administration/account-control.ts';
import type { AssertionControl } from '../authorization-server/administration/assertion-control.ts';
import type { KeyControl } from '../authorization-server/administration/key-control.ts';
import type { StoreControl } from '../authorization-server/administration/store-control.ts';

/** The parts of the gate that lookups and actions use. Every method throws GatewayError `store_unavailable`. */
export interface Controls {
  readonly account: AccountControl;
  readonly keys: KeyControl;
  readonly store: StoreControl;
  /** Sends pending events now. Throws GatewayError `not_found` when no events are configured. */
  readonly events: { retry(decision: CommandedBy): Promise<{ readonly pending: number }> };
  readonly assertions: AssertionControl;
}
