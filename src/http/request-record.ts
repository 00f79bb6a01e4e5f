import type { Principal } from '../oauth/principal.ts';
import { joinedFacts, type StepFacts, type StepKind, type StepNote } from './connection-step.ts';
import type { Provenance } from './provenance.ts';

/**
 * How a request ended, for the metrics: `public` (no authentication needed), `site` (passed to the legacy site),
 * `anonymous` (served without a member), `admitted` (for a member), `refused` (by the gate, or with an OAuth error), or
 * `failed`.
 */
export type RequestOutcome = 'public' | 'site' | 'anonymous' | 'admitted' | 'refused' | 'failed';

/**
 * Data about one request for the access log and the metrics, filled in along the way. A class, so that all instances
 * share one hidden class. It never contains a token, a query, a cookie or a body.
 */
export class RequestRecord {
  readonly provenance: Provenance;
  readonly method: string;
  /** Milliseconds, from `performance.now()`. */
  readonly started: number;
  /** The canonical path; until it is known, the path as received. */
  path: string;
  /** The route's pattern: the number of values is bounded, whatever clients request. */
  route: string = ROUTE_LABELS.none;
  outcome: RequestOutcome = 'public';
  principal: Principal | undefined;
  /**
   * Which of the member's data the request reads or changes, in the format of `areaOf`; filled in by the code that
   * knows.
   */
  areas: readonly string[] = NOTHING;
  /** Why it was refused, or the code of the failure; '' otherwise. */
  reason = '';
  /** The error code of RFC 6749, RFC 7591 and related RFCs in the response; '' if there is none. */
  oauthError = '';
  /** The upstream's name in the configuration; '' if no upstream was called. */
  upstream = '';
  /** Milliseconds from calling the upstream to the head of its response; -1 if there was none. */
  upstreamMilliseconds = -1;
  /** The media type of the legacy site's response, without parameters; '' if it had none. */
  mediaType = '';
  /** Whether an event stream is open. */
  streaming = false;
  /** The steps of connecting an app that the request made; undefined for all other requests. */
  steps: StepNote[] | undefined;
  #asked = 0;

  constructor(provenance: Provenance, method: string, path: string) {
    this.provenance = provenance;
    this.method = method;
    this.path = path;
    this.started = performance.now();
  }

  /**
   * The response is an OAuth error.
   * @param error the `error` code of RFC 6749 or a related RFC
   */
  refusedWith(error: string): void {
    this.outcome = 'refused';
    this.reason = error;
    this.oauthError = error;
  }

  /** Notes a step, or adds to the one of this kind. */
  noteStep(kind: StepKind, facts: StepFacts = {}): void {
    this.steps ??= [];
    const at = this.steps.findIndex((step) => step.kind === kind);
    if (at === -1) this.steps.push(joinedFacts<StepNote>({ kind }, facts));
    else this.steps[at] = joinedFacts(this.steps[at] as StepNote, facts);
  }

  /** Adds to the first step, if there is one. */
  explainStep(facts: StepFacts): void {
    const [first] = this.steps ?? [];
    if (first !== undefined) this.noteStep(first.kind, facts);
  }

  /** The request is about to be sent to an upstream. */
  asks(upstream: string): void {
    this.upstream = upstream;
    this.#asked = performance.now();
  }

  /** The head of the upstream's response has arrived. */
  answered(streaming: boolean): void {
    this.upstreamMilliseconds = performance.now() - this.#asked;
    this.streaming = streaming;
  }
}

const NOTHING: readonly string[] = [];

/**
 * Names for parts of the API in usage counts. They come only from the configuration and the contract, so requests
 * cannot create new ones.
 */
export const areaOf = {
  /** Named after the scopes that a route requires, or after its pattern if there are none. */
  route: (pattern: string, scopes: readonly string[]) =>
    scopes.length === 0 ? `route:${pattern}` : `scope:${scopes.join(' ')}`,
  /** A field of the Account API, by its path from the root. */
  field: (path: string) => `field:${path}`,
  /** A mutation of the Account API, by the name of its root field. */
  change: (name: string) => `change:${name}`,
  tool: (name: string) => `tool:${name}`,
  /** What the member decided about single calls, and those that were made after it. */
  approval: (what: 'given' | 'declined' | 'used') => `approval:${what}`,
} as const;

/** The route label of requests that match no route pattern. */
export const ROUTE_LABELS = {
  /** Passed to the legacy site. */
  site: 'site',
  /** Answered by the gate itself: the signed-in member, and the fields of the Account API. */
  own: 'own',
  /** No such path, or not a valid path. */
  none: 'none',
} as const;
