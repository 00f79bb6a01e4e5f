import { AsyncLocalStorage } from 'node:async_hooks';
import type { Provenance } from './provenance.ts';

/** The one carrier of the current request: what everything that is done because of it may need to know. */
export interface CurrentRequest {
  readonly provenance: Provenance;
  /** The User-Agent field; '' without one. */
  readonly userAgent: string;
  /** How long it may still wait for the store; undefined until it first does. See storage/patience.ts. */
  storeBudget?: StoreBudget;
}

export interface StoreBudget {
  /** Milliseconds. */
  left: number;
  /** How many waits overlap now, and since when: time is spent once, however many of them there are. */
  waiting: number;
  since: number;
}

const requests = new AsyncLocalStorage<CurrentRequest>();

/** Runs the work on a request: calls to upstreams carry its trace, and log lines its ids. */
export function withinRequest<T>(current: CurrentRequest, work: () => T): T {
  return requests.run(current, work);
}

/** Undefined for what no request asked for, such as maintenance. */
export function currentRequest(): CurrentRequest | undefined {
  return requests.getStore();
}
