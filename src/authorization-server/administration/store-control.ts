import { GatewayError } from '../../errors.ts';
import type { Audit } from '../../operations/audit.ts';
import type { Reseal } from '../../storage/seal.ts';
import type { Decision } from './account-control.ts';

/** Entries per step. */
const STEP = 1000;

export interface StoreControl {
  /** Re-encrypts one part of the store with the first secret. `from` is the `next` of the previous step. */
  reseal(from: unknown, decision: Decision): Promise<object>;
}

export function createStoreControl({
  reseal,
  audit,
}: {
  readonly reseal: Reseal;
  readonly audit: Audit;
}): StoreControl {
  return {
    async reseal(from, decision) {
      if (from !== undefined && typeof from !== 'string')
        throw new GatewayError('invalid_request', { message: '"from" must be the "next" of the previous step.' });
      const step = await reseal(from, STEP);
      if (step.next === undefined)
        audit({ action: 'store_resealed', member: undefined, clientId: undefined, grantId: undefined, ...decision });
      return step;
    },
  };
}
