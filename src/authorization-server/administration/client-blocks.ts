import type { Clock, Store } from '../../storage/store.ts';
import { type Suspensions, storedSuspensions } from './suspensions.ts';

/** Apps that the operator has disabled. The authorization server treats them as unknown. */
export type ClientBlocks = Suspensions;

export function storedClientBlocks(store: Store, clock: Clock): ClientBlocks {
  return storedSuspensions(store, clock, 'ClientBlock');
}
