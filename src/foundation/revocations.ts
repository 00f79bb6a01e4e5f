import type { Log } from '../operations/log.ts';
import type { RevocationBus } from '../storage/bus.ts';

export interface Revocations {
  /** The listener is called for each revocation, by any replica. Returns a function that unsubscribes. */
  subscribe(listener: () => void): () => void;
  /** Announces a revocation made here. Resolves when all replicas have been informed, or could not be. */
  announce(): Promise<void>;
  /** Hears of no further ones. */
  close(): void;
}

/** `bus` connects this process to the other replicas. */
export function createRevocations(bus: RevocationBus, log: Pick<Log, 'warn'>): Revocations {
  const listeners = new Set<() => void>();
  const heard = (): void => {
    for (const listener of listeners) listener();
  };
  const close = bus.subscribe(heard);
  return {
    close,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async announce() {
      heard();
      // Without the bus, the other replicas keep their cached answers until these expire.
      await bus.announce().catch((error: unknown) => log.warn({ err: error }, 'the other replicas were not told'));
    },
  };
}
