import type { Log } from '../operations/log.ts';
import { busListeners, type RevocationBus } from '../storage/bus.ts';

export type Revocations = ReturnType<typeof createRevocations>;

/** `bus` connects this process to the other replicas. */
export function createRevocations(bus: RevocationBus, log: Pick<Log, 'warn'>) {
  const { tellAll, subscribe } = busListeners();
  const close = bus.subscribe(tellAll);
  return {
    /** Hears of no further ones. */
    close,
    /** The listener is called for each revocation, by any replica. Returns a function that unsubscribes. */
    subscribe,
    /** Announces a revocation made here. Resolves when all replicas have been informed, or could not be. */
    async announce(): Promise<void> {
      tellAll();
      // Without the bus, the other replicas keep their cached answers until these expire.
      await bus.announce().catch((error: unknown) => log.warn({ err: error }, 'the other replicas were not told'));
    },
  };
}
