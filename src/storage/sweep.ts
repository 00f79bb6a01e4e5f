import { setImmediate as turn } from 'node:timers/promises';
import type { Store } from './store.ts';

/** So few that deleting them holds up no request for long, and so many that a hundred thousand are gone in seconds. */
const BATCH = 100;

/**
 * Deletes every expired entry, a batch at a time, and lets waiting requests go first in between. In: whether to stop
 * early. Out: how many.
 */
export async function sweepAll(store: Pick<Store, 'sweep'>, stopped: () => boolean): Promise<number> {
  let swept = 0;
  while (!stopped()) {
    const batch = await store.sweep(BATCH);
    swept += batch;
    if (batch < BATCH) break;
    await turn();
  }
  return swept;
}
