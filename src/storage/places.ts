import type { Counters, Rate } from './counters.ts';
import type { Clock } from './store.ts';

/** A limit on attempts within a window. Attempts in progress count as well. */
export interface PlaceLimit {
  readonly key: string;
  readonly rate: Rate;
}

export type Places = ReturnType<typeof countedPlaces>;

/** Milliseconds to wait when attempts in progress use up the limit: by then some may have ended. */
const RETRY_AFTER = 1000;

/**
 * Limits attempts exactly: however many arrive at once, no more attempts begin than the limit allows. Slots are counted in
 * this process.
 */
export function countedPlaces(counters: Counters, clock: Clock) {
  const running = new Map<string, number>();

  const waitOf = ({ key, rate }: PlaceLimit): number | undefined => {
    const { count, resetsAt } = counters.peek(key, rate);
    if (count >= rate.requests) return resetsAt - clock();
    return count + (running.get(key) ?? 0) >= rate.requests ? RETRY_AFTER : undefined;
  };
  const change = (key: string, places: number) => {
    const now = (running.get(key) ?? 0) + places;
    if (now === 0) running.delete(key);
    else running.set(key, now);
  };

  return {
    /**
     * Takes one slot of each limit, or none at all: then `wait` is in milliseconds. Throws GatewayError
     * `store_unavailable`.
     */
    async take(limits: readonly PlaceLimit[]) {
      const waits = limits.map(waitOf).filter((wait) => wait !== undefined);
      if (waits.length > 0) return { kind: 'full' as const, wait: Math.max(...waits) };
      for (const { key } of limits) change(key, 1);
      return {
        kind: 'taken' as const,
        /** Must be called once when the attempt ends; `counts` is whether the attempt counts in its window. */
        giveBack(counts: boolean): void {
          for (const { key, rate } of limits) {
            change(key, -1);
            if (counts) counters.add(key, rate);
          }
        },
      };
    },
  };
}
