/**
 * Notifies the other replicas that something was revoked. The notification does not say what: each replica clears its
 * caches.
 */
export interface RevocationBus {
  /** Throws GatewayError `store_unavailable` if the notification could not be sent. */
  announce(): Promise<void>;
  /** `listener` is also called when a lost connection is back, because announcements in between were missed. */
  subscribe(listener: () => void): void;
  close(): Promise<void>;
}

/** The bus of a process that shares its store with no other process. */
export const NO_REPLICAS: RevocationBus = {
  async announce() {},
  subscribe() {},
  async close() {},
};
