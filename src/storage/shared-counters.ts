import { createHmac } from 'node:crypto';
import type { Counters, Rate } from './counters.ts';
import { type CountingWindow, memoryCounters } from './memory-counters.ts';
import type { Clock } from './store.ts';

/**
 * Adds `count` to an id whose window lasts `per` seconds. Returns the count of all replicas, and the milliseconds left
 * in the window. The id is the keyed hash of a key, which may name a member or an address.
 */
export type CountShared = (id: string, count: number, per: number) => Promise<{ count: number; milliseconds: number }>;

/** The fraction of a limit that a replica counts before it reports to the others. */
const PART = 0.1;
/** Milliseconds before retrying after reporting has failed. */
const REST = 1_000;

/**
 * Counts for several replicas together. Requests never wait for other replicas: each replica counts locally, and after
 * every tenth of a limit it reports its count and receives the total. Callers far below their limits therefore cost
 * nothing. Each replica can let through at most a tenth of the limit too many, plus what arrives during one exchange.
 * While reporting fails, each replica counts alone: limits still apply, and no request is refused because of the
 * failure.
 */
export function sharedCounters(share: CountShared, secret: string, clock: Clock): Counters {
  const local = memoryCounters(clock);
  let restsUntil = 0;

  const report = async (key: string, per: number, window: CountingWindow): Promise<void> => {
    const reported = window.unreported;
    window.reporting = true;
    window.unreported = 0;
    try {
      const id = createHmac('sha256', secret).update(`limit:${key}`).digest('base64url');
      const all = await share(id, reported, per);
      window.count = Math.max(window.count, all.count + window.unreported);
      if (all.milliseconds > 0) window.resetsAt = clock() + all.milliseconds;
    } catch {
      window.unreported += reported;
      restsUntil = clock() + REST;
    } finally {
      window.reporting = false;
    }
  };

  return {
    add(key, rate) {
      const window = local.add(key, rate);
      window.unreported += 1;
      if (isWorthReporting(window, rate, PART) && restIsOver()) void report(key, rate.per, window);
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

function isWorthReporting({ count, unreported, reporting }: CountingWindow, { requests }: Rate, part: number): boolean {
  // Past the limit, the total makes no difference until the window ends.
  return !reporting && unreported >= requests * part && count - unreported <= requests;
}
