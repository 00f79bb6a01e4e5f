import type { Log } from '../operations/log.ts';
import type { RevocationBus } from '../storage/bus.ts';

export type Revocations = ReturnType<typeof createRevocations>;

/** `bus` connects this process to the other replicas. */
export function createRevocations(bus: RevocationBus, log: Pick<Log, 'warn'>) {
  const listeners = new Set<() => void>();
  const heard = (): void => {
    for (const listener of listeners) listener();
  };
  const close = bus.subscribe(heard);
  return {
    /** Hears of no further ones. */
    close,
    /** The listener is called for each revocation, by any replica. Returns a function that unsubscribes. */
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    /** Announces a revocation made here. Resolves when all replicas have been informed, or could not be. */
    async announce(): Promise<void> {
      heard();
      // Without the bus, the other replicas keep their cached answers until these expire.
      await bus.announce().catch((error: unknown) => log.warn({ err: error }, 'the other replicas were not told'));
    },
  };
}
