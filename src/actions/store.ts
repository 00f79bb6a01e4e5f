import { GatewayError } from '../errors.ts';
import { action } from './action.ts';

/** Entries per step. */
const STEP = 1000;

export const STORE_ACTIONS = {
  /** Re-encrypts one part of the store with the first secret. `from` is the `next` of the previous step. */
  reseal: action({
    path: '/store/reseal',
    values: ['from'],
    async run({ store, audit }, { body: { from }, decision }) {
      if (from !== undefined && typeof from !== 'string')
        throw new GatewayError('invalid_request', { message: '"from" must be the "next" of the previous step.' });
      const step = await store.reseal(from, STEP);
      if (step.next === undefined) audit({ action: 'store_resealed', ...decision });
      return step;
    },
  }),
};
