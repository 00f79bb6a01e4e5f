import { networkOf } from '../../http/client-network.ts';
import type { Clock } from '../../storage/store.ts';
import { DocumentFailure } from './failure.ts';
import { type Claim, claimOf, EVERYBODY, fetchShares } from './fetch-shares.ts';

const WAITING = 500;
const WAITING_PER_NETWORK = 10;
/** Milliseconds between two checks of the waiting requests. */
const LOOK_EVERY = 20;

export interface FetchRequest {
  /** The host that the document is fetched from. */
  readonly host: string;
  /** The client's address; '' if no client asked. */
  readonly address: string;
  /** Milliseconds to wait for a turn; 0: do not wait. */
  readonly patience: number;
}

/** Permission for one fetch. Call exactly one of the two methods, once. */
export type FetchTurn = Awaited<ReturnType<FetchBudget['enter']>>;

interface Waiting {
  readonly claim: Claim;
  readonly network: string;
  readonly until: number;
  go(turn: FetchTurn): void;
  refuse(reason: string): void;
}

export type FetchBudget = ReturnType<typeof fetchBudget>;

/**
 * Limits all document fetches of this process together, so that authorization requests cannot be turned into a flood
 * against another site or against us. Every client network has its own share, far below the overall limit. When the
 * limit is reached, requests wait, and the networks that fetched least recently go first: networks that use up their
 * shares delay one another, but not a client that comes once.
 */
export function fetchBudget(clock: Clock) {
  const shares = fetchShares(clock);
  let waiting: Waiting[] = [];
  let timer: NodeJS.Timeout | undefined;

  const begin = (claim: Claim) => {
    shares.take(claim);
    const end = (fetched: boolean) => {
      shares.giveBack(claim, fetched);
      serve();
    };
    return {
      /** The fetch is over. */
      end: () => end(true),
      /** No fetch was needed after all. */
      unused: () => end(false),
    };
  };
  /** Networks that fetched least recently first; within a network, in order of arrival. */
  const inOrder = (): readonly Waiting[] => {
    const use = new Map(waiting.map((one) => [one, shares.use(one.claim)]));
    return waiting.toSorted((a, b) => (use.get(a) ?? 0) - (use.get(b) ?? 0));
  };
  const remove = (one: Waiting): Waiting => {
    waiting = waiting.filter((other) => other !== one);
    return one;
  };
  /** Starts the requests that may go, and refuses those that have waited too long. */
  const serve = (): void => {
    for (const one of shares.allow(EVERYBODY) ? inOrder() : []) {
      if (shares.allow(one.claim)) remove(one).go(begin(one.claim));
    }
    const now = performance.now();
    for (const late of waiting.filter(({ until }) => until <= now)) remove(late).refuse('its turn did not come');
    if (waiting.length === 0 || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      serve();
    }, LOOK_EVERY);
  };

  return {
    /** Resolves when the fetch may begin. Throws DocumentFailure `busy` if its turn does not come in time. */
    enter: ({ host, address, patience }: FetchRequest): Promise<ReturnType<typeof begin>> =>
      new Promise((go, reject) => {
        const network = networkOf(address);
        const claim = claimOf(host, address);
        const refuse = (reason: string) => reject(new DocumentFailure('busy', reason));
        if (waiting.length === 0 && shares.allow(claim)) return go(begin(claim));
        const mine = waiting.filter((other) => other.network === network).length;
        if (mine >= WAITING_PER_NETWORK) return refuse(`${mine} fetches for ${network} are waiting`);
        waiting.push({ claim, network, until: performance.now() + patience, go, refuse });
        serve();
        const last = waiting.length > WAITING ? inOrder().at(-1) : undefined;
        if (last !== undefined) remove(last).refuse(`${WAITING} fetches are waiting`);
      }),
  };
}
