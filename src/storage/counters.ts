/** How often something may happen. */
export interface Rate {
  readonly requests: number;
  /** Seconds. */
  readonly per: number;
}

/** How often something has happened since its window began. */
export interface Tally {
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly resetsAt: number;
}

/**
 * Counts how often things happen, each in windows of its own: a window begins with the first event after the last one
 * ended. Neither method waits for anything. Keys are as many as callers like: what was not counted for longest is forgotten.
 */
export interface Counters {
  /** Counts one event. */
  add(key: string, rate: Rate): Tally;
  peek(key: string, rate: Rate): Tally;
  /** How many are counted in memory, and how many at most. */
  readonly held: { readonly size: number; readonly max: number };
  close(): void;
}
