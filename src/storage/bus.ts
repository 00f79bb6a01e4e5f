/**
 * Notifies the other replicas that something was revoked. The notification does not say what: each replica clears its
 * caches.
 */
export interface RevocationBus {
  /** Throws GatewayError `store_unavailable` if the notification could not be sent. */
  announce(): Promise<void>;
  /**
   * `listener` is also called when a lost connection is back, because announcements in between were missed. Returns a
   * function that unsubscribes.
   */
  subscribe(listener: () => void): () => void;
  close(): Promise<void>;
}

/** Those that a bus notifies. */
export function busListeners() {
  const listeners = new Set<() => void>();
  return {
    tellAll() {
      for (const listener of listeners) listener();
    },
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
