import type { Counters, Rate } from './counters.ts';
import type { Clock } from './store.ts';

/** One thing that is limited: so many in a window, those under way among them. */
export interface PlaceLimit {
  readonly key: string;
  readonly rate: Rate;
}

/** What came of asking for places. */
type Taken =
  | { readonly kind: 'full' /** Milliseconds. */; readonly wait: number }
  /** To be given back once; in: whether it counts in its window. */
  | { readonly kind: 'taken'; readonly giveBack: (counts: boolean) => void };

/** Exact, however many ask at once: what may be tried so many times is begun no more often than that. */
export interface Places {
  /** Takes a place of each limit, or none at all. Throws GatewayError `store_unavailable`. */
  take(limits: readonly PlaceLimit[]): Promise<Taken>;
}

/** Milliseconds until those that are under way may have made room. */
const UNDER_WAY = 1000;

/** Places that one process gives out. */
export function countedPlaces(counters: Counters, clock: Clock): Places {
  const underWay = new Map<string, number>();

  const waitOf = ({ key, rate }: PlaceLimit): number | undefined => {
    const { count, resetsAt } = counters.peek(key, rate);
    if (count >= rate.requests) return resetsAt - clock();
    return count + (underWay.get(key) ?? 0) >= rate.requests ? UNDER_WAY : undefined;
  };
  const change = (key: string, places: number) => {
    const now = (underWay.get(key) ?? 0) + places;
    if (now === 0) underWay.delete(key);
    else underWay.set(key, now);
  };

  return {
    async take(limits) {
      const waits = limits.map(waitOf).filter((wait) => wait !== undefined);
      if (waits.length > 0) return { kind: 'full', wait: Math.max(...waits) };
      for (const { key } of limits) change(key, 1);
      return {
        kind: 'taken',
        giveBack(counts) {
          for (const { key, rate } of limits) {
            change(key, -1);
            if (counts) counters.add(key, rate);
          }
        },
      };
    },
  };
}
