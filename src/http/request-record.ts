import type { Principal } from '../oauth/principal.ts';
import type { Provenance } from './provenance.ts';

/**
 * How a request ended, for whoever counts: asked of nobody who they are, passed to the legacy site, served without a member,
 * let in for one, refused by the gate or with an error of OAuth, or met a failure.
 */
export type Outcome = 'public' | 'site' | 'anonymous' | 'admitted' | 'refused' | 'failed';

/**
 * What is learned of one request on its way, for the access log and the metrics. One class, so that every reader sees
 * one shape; filled in by whoever learns it. It never holds a token, a query, a cookie or a body.
 */
export class RequestRecord {
  readonly provenance: Provenance;
  readonly method: string;
  /** Milliseconds, of `performance.now()`. */
  readonly started: number;
  /** The canonical path; until there is one, the path as received. */
  path: string;
  /** The pattern of the route: bounded, whatever clients ask for. */
  route: string = ROUTE_LABELS.none;
  outcome: Outcome = 'public';
  principal: Principal | undefined;
  /** What of the member's is read or changed by it, in the words of `areas`; filled in by whoever knows that it was. */
  areas: readonly string[] = NOTHING;
  /** Why it was refused, or the code of the failure; '' when neither. */
  reason = '';
  /** The error of RFC 6749, RFC 7591 and their kin that the answer tells; '' when it tells none. */
  oauthError = '';
  /** The upstream's name in the configuration; '' when none was asked. */
  upstream = '';
  /** Milliseconds from the upstream being asked to the head of its answer; -1 when there was none. */
  upstreamMilliseconds = -1;
  /** What the upstream of the site called its answer, without parameters; '' when it said nothing. */
  mediaType = '';
  /** Whether an event stream is open. */
  streaming = false;
  #asked = 0;

  constructor(provenance: Provenance, method: string, path: string) {
    this.provenance = provenance;
    this.method = method;
    this.path = path;
    this.started = performance.now();
  }

  /** It is answered with an error of OAuth. In: the `error`, of RFC 6749 or its kin. */
  refusedWith(error: string): void {
    this.outcome = 'refused';
    this.reason = error;
    this.oauthError = error;
  }

  /** The request is about to go to an upstream. */
  asks(upstream: string): void {
    this.upstream = upstream;
    this.#asked = performance.now();
  }

  /** The head of the upstream's answer is here. */
  answered(streaming: boolean): void {
    this.upstreamMilliseconds = performance.now() - this.#asked;
    this.streaming = streaming;
  }
}

const NOTHING: readonly string[] = [];

/**
 * How parts of the API are named where their use is counted. All of it comes from the configuration and the contract, so
 * there is no end of requests that could make new names.
 */
export const areaOf = {
  /** By the scopes that a route asks for; without any, by its pattern. */
  route: (pattern: string, scopes: readonly string[]) =>
    scopes.length === 0 ? `route:${pattern}` : `scope:${scopes.join(' ')}`,
  /** A field of the Account API, by its path from the root. */
  field: (path: string) => `field:${path}`,
  tool: (name: string) => `tool:${name}`,
} as const;

/** What stands for a route where no pattern does. */
export const ROUTE_LABELS = {
  /** Passed to the legacy site. */
  site: 'site',
  /** Asked by the gate itself: who is signed in, and the fields of the Account API. */
  own: 'own',
  /** Nothing of ours, or no path at all. */
  none: 'none',
} as const;
