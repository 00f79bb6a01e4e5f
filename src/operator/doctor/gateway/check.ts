import { type Check, type CheckTable, checkList } from '../check.ts';
import type { AttackedGateway } from './attacked-gateway.ts';
import type { GatewayFacts } from './facts.ts';

export type GatewayCheck = Check<AttackedGateway, GatewayFacts>;
/** What a check gets that needs a request which reaches the backend. */
export type CarriedAttack = AttackedGateway & Pick<GatewayFacts, 'carrier'>;

/** Checks of a gateway, which need the same facts. */
export function gatewayChecks<const N extends keyof GatewayFacts>(
  needs: readonly N[],
  table: CheckTable<AttackedGateway & Pick<GatewayFacts, N>>,
): readonly GatewayCheck[] {
  return checkList<AttackedGateway, GatewayFacts, N>({ needs }, table);
}
