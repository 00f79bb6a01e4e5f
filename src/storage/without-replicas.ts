import type { RevocationBus } from './bus.ts';
import { memoryCounters } from './memory-counters.ts';
import type { OpenedStore } from './opened-store.ts';
import { countedPlaces } from './places.ts';
import type { Clock } from './store.ts';

/** The bus of a process that shares its store with no other process. */
const NO_REPLICAS: RevocationBus = {
  async announce() {},
  subscribe() {},
  async close() {},
};

/** What replicas would share, for a store that only this process uses. */
export function withoutReplicas(clock: Clock): Pick<OpenedStore, 'bus' | 'counters' | 'places' | 'check'> {
  const counters = memoryCounters(clock);
  return { bus: NO_REPLICAS, counters, places: countedPlaces(counters, clock), check: async () => [] };
}
