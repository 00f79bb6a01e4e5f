import { AsyncLocalStorage } from 'node:async_hooks';
import type { GatewayError } from '../errors.ts';
import type { Provenance } from './provenance.ts';
import type { RequestInFlight } from './requests-in-flight.ts';

/** The context of the current request, for all code that runs because of it. */
export interface CurrentRequest {
  readonly provenance: Provenance;
  /** The User-Agent field; '' if there is none. */
  readonly userAgent: string;
  /** Undefined for work that stands in for a request, as in tests. */
  readonly inFlight?: RequestInFlight;
  /** How long the request may still wait for the store; undefined until it first does. See storage/patience.ts. */
  storeBudget?: StoreBudget;
  /** The languages that the app prefers for pages: its `ui_locales` parameter, which may be any value. */
  uiLocales?: unknown;
  /** What oidc-provider reported while it handled the request: a failure of ours, and the OAuth error it answers. */
  failure?: GatewayError;
  oauthError?: string;
}

export interface StoreBudget {
  /** In milliseconds. */
  left: number;
  /** How many waits overlap now, and since when: overlapping waits use up the time only once. */
  waiting: number;
  since: number;
}

const requests = new AsyncLocalStorage<CurrentRequest>();

/** Handles a request in its context: calls to upstreams then carry its trace, and log lines its ids. */
export function withinRequest<T>(current: CurrentRequest, work: () => T): T {
  return requests.run(current, work);
}

/**
 * Runs `work` as what no request waits for. A timer that is set within a request belongs to that request, and what it runs would
 * have no more time for the store than the request has left.
 */
export function outsideRequests<T>(work: () => T): T {
  return requests.exit(work);
}

/** Undefined for work that no request caused, such as maintenance. */
export function currentRequest(): CurrentRequest | undefined {
  return requests.getStore();
}
