import { LRUCache } from 'lru-cache';
import { networkOf, widerNetworkOf } from '../../http/client-network.ts';
import { addOpen, removeOpen } from '../../http/when-closed.ts';
import type { Clock } from '../../storage/store.ts';

/** `burst` fetches at once after a pause, and then one every `interval` milliseconds. */
interface Rate {
  readonly interval: number;
  readonly burst: number;
}

/** What one fetch takes a share of: each key has a limit. */
export interface Claim {
  /** Fetches at the same time. */
  readonly places: readonly (readonly [key: string, most: number])[];
  readonly rates: readonly Limited[];
  /** Those of the rates that belong to the client that asks. */
  readonly own: readonly Limited[];
}

type Limited = readonly [key: string, rate: Rate];

/**
 * Limits the fetches for all clients together. A fetch usually takes less than 100 ms, so if 300 clients arrive at the
 * same moment with an app that is new here, all of them are served within the 2.5 seconds that a request waits.
 */
export const EVERYBODY: Claim = {
  places: [['everybody', 100]],
  rates: [['everybody', { interval: 10, burst: 100 }]],
  own: [],
};
/** Limits one client network, and the /24 or /48 around it: a twentieth and a tenth of the overall rate. */
const NETWORK: Rate = { interval: 200, burst: 10 };
const WIDER_NETWORK: Rate = { interval: 100, burst: 20 };
/** Limits what one document host receives from us, for all clients together. */
const HOST: Rate = { interval: 50, burst: 20 };

const AT_ONCE_PER_HOST = 5;
/** How many of those one network may hold, so that a client cannot occupy a slow host. */
const AT_ONCE_PER_HOST_AND_NETWORK = 3;

/**
 * About 5 MB when full. A client with this many networks evades the limits anyway, without any share being forgotten.
 */
const REMEMBERED = 20_000;

/** What a client asks for that makes us fetch from a host. */
export function claimOf(host: string, address: string): Claim {
  const network = networkOf(address);
  const own: readonly Limited[] = [
    [`network ${network}`, NETWORK],
    [`wider ${widerNetworkOf(address)}`, WIDER_NETWORK],
  ];
  return {
    places: [...EVERYBODY.places, [host, AT_ONCE_PER_HOST], [`${host} ${network}`, AT_ONCE_PER_HOST_AND_NETWORK]],
    rates: [...EVERYBODY.rates, ...own, [`host ${host}`, HOST]],
    own,
  };
}

/** The shares in use: fetches that are running, and the rates of the last seconds. */
export function fetchShares(clock: Clock) {
  const running = new Map<string, number>();
  /** When each rate has recovered completely, in milliseconds since the epoch. */
  const recovered = new LRUCache<string, number>({ maxSize: REMEMBERED, sizeCalculation: () => 1 });
  /** Milliseconds until the rate has recovered. */
  const debt = (key: string, { burst, interval }: Rate): number => {
    const now = clock();
    const most = burst * interval;
    const left = Math.max(0, (recovered.get(key) ?? 0) - now);
    if (left <= most) return left;
    // The clock was set back: the rate recovers from now on.
    recovered.set(key, now + most);
    return most;
  };
  const charge = (key: string, rate: Rate, milliseconds: number): void => {
    recovered.set(key, clock() + debt(key, rate) + milliseconds);
  };

  return {
    allow: ({ places, rates }: Claim): boolean =>
      places.every(([key, most]) => (running.get(key) ?? 0) < most) &&
      rates.every(([key, rate]) => debt(key, rate) <= (rate.burst - 1) * rate.interval),

    /** How much of its own rates the client has used up: the largest fraction, from 0 to 1. */
    use: ({ own }: Claim): number =>
      Math.max(...own.map(([key, rate]) => debt(key, rate) / (rate.burst * rate.interval))),

    take({ places, rates }: Claim): void {
      for (const [key] of places) addOpen(running, key);
      for (const [key, rate] of rates) charge(key, rate, rate.interval);
    },

    /** @param fetched - whether a fetch took place, which counts towards the rates */
    giveBack({ places, rates }: Claim, fetched: boolean): void {
      for (const [key] of places) removeOpen(running, key);
      if (!fetched) for (const [key, rate] of rates) charge(key, rate, -rate.interval);
    },
  };
}
