import { GatewayError } from '../../errors.ts';
import type { Audit } from '../../operations/audit.ts';
import type { Reseal } from '../../storage/seal.ts';
import type { Decision } from './account-control.ts';

/** Entries that one step looks at. */
const STEP = 1000;

export interface StoreControl {
  /** One step of sealing the store with the first secret. In: where the one before ended. */
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
        throw new GatewayError('invalid_request', { message: '"from" must be what "next" of the step before said.' });
      const step = await reseal(from, STEP);
      if (step.next === undefined)
        audit({ action: 'store_resealed', member: undefined, clientId: undefined, grantId: undefined, ...decision });
      return step;
    },
  };
}
