import { networkOf } from '../../http/client-network.ts';
import type { Clock } from '../../storage/store.ts';
import { DocumentFailure } from './failure.ts';
import { type Claim, claimOf, EVERYBODY, FetchShares } from './fetch-shares.ts';

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
export interface FetchTurn {
  /** The fetch is over. */
  end(): void;
  /** No fetch was needed after all. */
  unused(): void;
}

interface Waiting {
  readonly claim: Claim;
  readonly network: string;
  readonly until: number;
  go(turn: FetchTurn): void;
  refuse(reason: string): void;
}

/**
 * Limits all document fetches of this process together, so that authorization requests cannot be turned into a flood
 * against another site or against us. Every client network has its own share, far below the overall limit. When the
 * limit is reached, requests wait, and the networks that fetched least recently go first: networks that use up their
 * shares delay one another, but not a client that comes once.
 */
export class FetchBudget {
  readonly #shares: FetchShares;
  #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(clock: Clock) {
    this.#shares = new FetchShares(clock);
  }

  /** Resolves when the fetch may begin. Throws DocumentFailure `busy` if its turn does not come in time. */
  enter({ host, address, patience }: FetchRequest): Promise<FetchTurn> {
    const network = networkOf(address);
    const claim = claimOf(host, address);
    return new Promise((go, reject) => {
      const refuse = (reason: string) => reject(new DocumentFailure('busy', reason));
      if (this.#waiting.length === 0 && this.#shares.allow(claim)) return go(this.#begin(claim));
      const mine = this.#waiting.filter((other) => other.network === network).length;
      if (mine >= WAITING_PER_NETWORK) return refuse(`${mine} fetches for ${network} are waiting`);
      this.#waiting.push({ claim, network, until: performance.now() + patience, go, refuse });
      this.#serve();
      const last = this.#waiting.length > WAITING ? this.#inOrder().at(-1) : undefined;
      if (last !== undefined) this.#remove(last).refuse(`${WAITING} fetches are waiting`);
    });
  }

  #begin(claim: Claim): FetchTurn {
    this.#shares.take(claim);
    const end = (fetched: boolean) => {
      this.#shares.giveBack(claim, fetched);
      this.#serve();
    };
    return { end: () => end(true), unused: () => end(false) };
  }

  /** Starts the requests that may go, and refuses those that have waited too long. */
  #serve(): void {
    for (const waiting of this.#shares.allow(EVERYBODY) ? this.#inOrder() : []) {
      if (this.#shares.allow(waiting.claim)) this.#remove(waiting).go(this.#begin(waiting.claim));
    }
    const now = performance.now();
    for (const late of this.#waiting.filter(({ until }) => until <= now))
      this.#remove(late).refuse('its turn did not come');
    if (this.#waiting.length === 0 || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#serve();
    }, LOOK_EVERY);
  }

  /** Networks that fetched least recently first; within a network, in order of arrival. */
  #inOrder(): readonly Waiting[] {
    const use = new Map(this.#waiting.map((waiting) => [waiting, this.#shares.use(waiting.claim)]));
    return this.#waiting.toSorted((a, b) => (use.get(a) ?? 0) - (use.get(b) ?? 0));
  }

  #remove(waiting: Waiting): Waiting {
    this.#waiting = this.#waiting.filter((other) => other !== waiting);
    return waiting;
  }
}
