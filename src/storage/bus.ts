/** Tells the other replicas that something was revoked. What exactly is not said: each forgets all that it remembers. */
export interface RevocationBus {
  /** Throws GatewayError `store_unavailable` when nobody could be told. */
  announce(): Promise<void>;
  /** `listener` is also called when the bus was lost and is back: what was announced in between was not heard. */
  subscribe(listener: () => void): void;
  close(): Promise<void>;
}

/** The bus of a process that shares its store with no other. */
export const NO_REPLICAS: RevocationBus = {
  async announce() {},
  subscribe() {},
  async close() {},
};
