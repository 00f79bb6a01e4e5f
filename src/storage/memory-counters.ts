import { LRUCache } from 'lru-cache';
import type { Rate, Tally } from './counters.ts';
import type { Clock } from './store.ts';

/** A window in progress. */
export interface CountingWindow extends Tally {
  count: number;
  resetsAt: number;
  /** The part of the count that was not yet sent to the other replicas. */
  unreported: number;
  /** Whether it is being sent right now. */
  reporting: boolean;
}

/**
 * About 25 MB when full. A caller with more addresses than this could get past a limit without any key being forgotten.
 */
const KEYS = 100_000;

/** Counters in this process. */
export function memoryCounters(clock: Clock) {
  // With `max`, the cache would fill lists of that length before the first request.
  const windows = new LRUCache<string, CountingWindow>({ maxSize: KEYS, sizeCalculation: () => 1 });
  const openAt = (key: string, now: number, length: number): CountingWindow | undefined => {
    const window = windows.get(key);
    if (window === undefined || now >= window.resetsAt) return undefined;
    // If the clock was set back, the window must not stay open for longer than its length.
    window.resetsAt = Math.min(window.resetsAt, now + length);
    return window;
  };

  return {
    add(key: string, { per }: Rate): CountingWindow {
      const now = clock();
      const window = openAt(key, now, per * 1000);
      if (window !== undefined) {
        window.count += 1;
        return window;
      }
      const next = { count: 1, resetsAt: now + per * 1000, unreported: 0, reporting: false };
      windows.set(key, next);
      return next;
    },
    peek(key: string, { per }: Rate): Tally {
      const now = clock();
      return openAt(key, now, per * 1000) ?? { count: 0, resetsAt: now };
    },
    held: {
      max: KEYS,
      get size() {
        return windows.size;
      },
    },
    close() {},
  };
}
