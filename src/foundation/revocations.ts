import type { Log } from '../operations/log.ts';
import type { RevocationBus } from '../storage/bus.ts';

/** Who has to hear that something was revoked, here or on another replica. */
export interface Revocations {
  /** Out: what ends that. */
  subscribe(listener: () => void): () => void;
  /** Something was revoked here. Resolves when everybody has been told, or cannot be. */
  announce(): Promise<void>;
}

/** In: what tells the other replicas, and is told by them. */
export function createRevocations(bus: RevocationBus, log: Pick<Log, 'warn'>): Revocations {
  const listeners = new Set<() => void>();
  const heard = (): void => {
    for (const listener of listeners) listener();
  };
  bus.subscribe(heard);
  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async announce() {
      heard();
      // Without the bus the other replicas believe what they remember until it runs out by itself.
      await bus.announce().catch((error: unknown) => log.warn({ err: error }, 'the other replicas were not told'));
    },
  };
}
