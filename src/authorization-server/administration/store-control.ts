import { GatewayError } from '../../errors.ts';
import type { Audit } from '../../operations/audit.ts';
import type { Reseal } from '../../storage/seal.ts';
import type { CommandedBy } from './account-control.ts';

/** Entries per step. */
const STEP = 1000;

export type StoreControl = ReturnType<typeof createStoreControl>;

export function createStoreControl({ reseal, audit }: { readonly reseal: Reseal; readonly audit: Audit }) {
  return {
    /** Re-encrypts one part of the store with the first secret. `from` is the `next` of the previous step. */
    async reseal(from: unknown, decision: CommandedBy) {
      if (from !== undefined && typeof from !== 'string')
        throw new GatewayError('invalid_request', { message: '"from" must be the "next" of the previous step.' });
      const step = await reseal(from, STEP);
      if (step.next === undefined) audit({ action: 'store_resealed', ...decision });
      return step;
    },
  };
}
