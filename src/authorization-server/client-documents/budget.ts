import { LRUCache } from 'lru-cache';
import { networkOf, widerNetworkOf } from '../../http/client-network.ts';
import type { Clock } from '../../storage/store.ts';
import { DocumentFailure } from './failure.ts';
import { type BucketRate, TokenBucket } from './token-bucket.ts';

/**
 * Limits the fetches for all clients together. A fetch usually takes less than 100 ms, so if 300 clients arrive at the
 * same moment with an app that is new here, all of them are served within the 2.5 seconds that a request waits.
 */
const EVERYBODY: BucketRate = { perSecond: 100, burst: 100 };
/** Limits one client network, and the /24 or /48 around it: a twentieth and a tenth of the overall rate. */
const NETWORK: BucketRate = { perSecond: 5, burst: 10 };
const WIDER_NETWORK: BucketRate = { perSecond: 10, burst: 20 };
/** Limits what one document host receives from us, for all clients together. */
const HOST: BucketRate = { perSecond: 20, burst: 20 };

const AT_ONCE = 100;
const AT_ONCE_PER_HOST = 5;
/** How many of those one network may hold, so that a client cannot occupy a slow host. */
const AT_ONCE_PER_HOST_AND_NETWORK = 3;

const WAITING = 500;
const WAITING_PER_NETWORK = 10;
/** Milliseconds between two checks of the waiting requests. */
const LOOK_EVERY = 20;

/**
 * About 5 MB when full. A client with this many networks evades the limits anyway, without any bucket being evicted.
 */
const BUCKETS = 20_000;

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
  readonly host: string;
  readonly network: string;
  readonly widerNetwork: string;
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
  readonly #clock: Clock;
  readonly #buckets = new LRUCache<string, TokenBucket>({ max: BUCKETS });
  readonly #everybody: TokenBucket;
  readonly #running = new Map<string, number>();
  #waiting: Waiting[] = [];
  #atOnce = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#everybody = new TokenBucket(EVERYBODY, clock());
  }

  /** Resolves when the fetch may begin. Throws DocumentFailure `busy` if its turn does not come in time. */
  enter({ host, address, patience }: FetchRequest): Promise<FetchTurn> {
    const network = networkOf(address);
    const widerNetwork = widerNetworkOf(address);
    const until = performance.now() + patience;
    return new Promise((resolve, reject) => {
      const refuse = (reason: string) => reject(new DocumentFailure('busy', reason));
      const waiting: Waiting = {
        host,
        network,
        widerNetwork,
        until,
        go: resolve,
        refuse,
      };
      if (this.#waiting.length === 0 && this.#mayGo(waiting)) return resolve(this.#begin(waiting));
      const mine = this.#waiting.filter((other) => other.network === network).length;
      if (mine >= WAITING_PER_NETWORK) return refuse(`${mine} fetches for ${network} are waiting`);
      this.#waiting.push(waiting);
      this.#serve();
      if (this.#waiting.length > WAITING) this.#drop(this.#inOrder().at(-1), `${WAITING} fetches are waiting`);
    });
  }

  #hasRoom(): boolean {
    return this.#atOnce < AT_ONCE && this.#everybody.has(this.#clock());
  }

  #mayGo(waiting: Waiting): boolean {
    const now = this.#clock();
    const { host, network } = waiting;
    return (
      this.#hasRoom() &&
      (this.#running.get(host) ?? 0) < AT_ONCE_PER_HOST &&
      (this.#running.get(`${host} ${network}`) ?? 0) < AT_ONCE_PER_HOST_AND_NETWORK &&
      this.#bucketsOf(waiting).every((bucket) => bucket.has(now))
    );
  }

  #begin(waiting: Waiting): FetchTurn {
    const now = this.#clock();
    const { host, network } = waiting;
    const buckets = [this.#everybody, ...this.#bucketsOf(waiting)];
    const places = [host, `${host} ${network}`];
    for (const bucket of buckets) bucket.take(now);
    this.#atOnce += 1;
    for (const place of places) this.#running.set(place, (this.#running.get(place) ?? 0) + 1);
    const end = () => {
      this.#atOnce -= 1;
      for (const place of places) {
        const left = (this.#running.get(place) ?? 1) - 1;
        if (left === 0) this.#running.delete(place);
        else this.#running.set(place, left);
      }
      this.#serve();
    };
    return {
      end,
      unused: () => {
        for (const bucket of buckets) bucket.giveBack();
        end();
      },
    };
  }

  /** Starts the requests that may go, and refuses those that have waited too long. */
  #serve(): void {
    for (const waiting of this.#hasRoom() ? this.#inOrder() : []) {
      if (!this.#mayGo(waiting)) continue;
      this.#remove(waiting);
      waiting.go(this.#begin(waiting));
    }
    const now = performance.now();
    for (const late of this.#waiting.filter(({ until }) => until <= now)) this.#drop(late, 'its turn did not come');
    if (this.#waiting.length === 0 || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#serve();
    }, LOOK_EVERY);
  }

  /** Networks that fetched least recently first; within a network, in order of arrival. */
  #inOrder(): readonly Waiting[] {
    const now = this.#clock();
    const levels = new Map<Waiting, number>();
    for (const waiting of this.#waiting) {
      const [own, wider] = this.#bucketsOf(waiting);
      levels.set(waiting, Math.min(own.level(now), wider.level(now)));
    }
    return this.#waiting.toSorted((a, b) => (levels.get(b) ?? 0) - (levels.get(a) ?? 0));
  }

  #drop(waiting: Waiting | undefined, reason: string): void {
    if (waiting === undefined) return;
    this.#remove(waiting);
    waiting.refuse(reason);
  }

  #remove(waiting: Waiting): void {
    this.#waiting = this.#waiting.filter((other) => other !== waiting);
  }

  #bucketsOf({ host, network, widerNetwork }: Waiting): readonly [TokenBucket, TokenBucket, TokenBucket] {
    return [
      this.#bucket(`network ${network}`, NETWORK),
      this.#bucket(`wider ${widerNetwork}`, WIDER_NETWORK),
      this.#bucket(`host ${host}`, HOST),
    ];
  }

  #bucket(key: string, rate: BucketRate): TokenBucket {
    const found = this.#buckets.get(key);
    if (found !== undefined) return found;
    const bucket = new TokenBucket(rate, this.#clock());
    this.#buckets.set(key, bucket);
    return bucket;
  }
}
