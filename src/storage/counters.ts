/** A rate limit: `requests` per window of `per` seconds. */
export interface Rate {
  readonly requests: number;
  /** Window length in seconds. */
  readonly per: number;
}

/** How many events were counted since the window began. */
export interface Tally {
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly resetsAt: number;
}

/**
 * Counts events in fixed windows per key. A key's window begins with the first event after the previous window ended.
 * The methods are synchronous. The number of keys is not limited: the least recently counted ones are forgotten.
 */
export interface Counters {
  /** Counts one event. */
  add(key: string, rate: Rate): Tally;
  peek(key: string, rate: Rate): Tally;
  /** The number of keys held in memory, and its maximum. */
  readonly held: { readonly size: number; readonly max: number };
  close(): void;
}
