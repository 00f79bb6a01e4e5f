import type { Counters, Rate } from './counters.ts';
import { memoryCounters, type Window } from './memory-counters.ts';
import type { Clock } from './store.ts';

/** In: a key, how much to add to it, the seconds its window lasts. Out: what all replicas counted, and until when. */
export type Share = (key: string, count: number, per: number) => Promise<{ count: number; milliseconds: number }>;

/** The part of a limit that a replica counts before it tells the others. */
const PART = 0.1;
/** Milliseconds before others are tried again who could not be told. */
const REST = 1_000;

/**
 * Counts for several replicas together. No request waits for the others: each replica counts by itself, and tells them
 * after every tenth of a limit, learning at the same time what they have counted. So callers far below their limits cost
 * nothing, and all replicas together let through at most a tenth of the limit more each, and what comes during one
 * exchange. While the others cannot be told, each counts alone; nobody is refused for it, and nobody is let through.
 */
export function sharedCounters(share: Share, clock: Clock): Counters {
  const local = memoryCounters(clock);
  let restsUntil = 0;

  const tell = async (key: string, per: number, window: Window): Promise<void> => {
    const told = window.untold;
    window.telling = true;
    window.untold = 0;
    try {
      const all = await share(key, told, per);
      window.count = Math.max(window.count, all.count + window.untold);
      if (all.milliseconds > 0) window.resetsAt = clock() + all.milliseconds;
    } catch {
      window.untold += told;
      restsUntil = clock() + REST;
    } finally {
      window.telling = false;
    }
  };

  return {
    add(key, rate) {
      const window = local.add(key, rate);
      window.untold += 1;
      if (isWorthTelling(window, rate, PART) && restIsOver()) void tell(key, rate.per, window);
      return window;
    },
    peek: local.peek,
    held: local.held,
    close: local.close,
  };

  function restIsOver(): boolean {
    const now = clock();
    return now >= restsUntil || restsUntil - now > REST;
  }
}

function isWorthTelling({ count, untold, telling }: Window, { requests }: Rate, part: number): boolean {
  // Past the limit there is nothing to learn any more until the window ends.
  return !telling && untold >= requests * part && count - untold <= requests;
}
