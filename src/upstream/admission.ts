import { GatewayError } from '../errors.ts';
import type { Breaker, BreakerState } from './breaker.ts';

export interface AdmissionOptions {
  /** Requests under way at once, each on a connection of its own. */
  readonly maxRequests: number;
  /** Event streams open at once. */
  readonly maxStreams: number;
  readonly breaker: Breaker;
  /** Answers with these statuses count as failures. */
  readonly failureStatuses: ReadonlySet<number>;
}

/**
 * Who may go to an upstream. Requests and event streams are counted apart: a request is over soon and a stream is not,
 * so that streams which members hold open never take the places of requests. Nobody waits for a place, which would tie
 * up the client's connection too: over the bound the answer is 503 at once.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  #requests = 0;
  #streams = 0;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /**
   * In: whether the request asks for an event stream and nothing else; it then takes a place among those from the
   * start, so that as many clients as there were may come back at once after an interruption: a browser's EventSource
   * never tries again after a 503. Throws GatewayError `upstream_overloaded` or `upstream_unavailable`, with Retry-After.
   */
  enter(stream = false): Visit {
    const { maxRequests, maxStreams, breaker } = this.#options;
    if (stream ? this.#streams >= maxStreams : this.#requests >= maxRequests) throw overloaded();
    const probe = breaker.admit();
    if (stream) this.#streams += 1;
    else this.#requests += 1;
    return new Visit(this, this.#options, probe, stream);
  }

  /** What is under way now, for metrics and tests. */
  state(): { readonly requests: number; readonly streams: number; readonly breaker: BreakerState } {
    return { requests: this.#requests, streams: this.#streams, breaker: this.#options.breaker.state() };
  }

  /** Throws GatewayError `upstream_overloaded`. Called by a visit, once. */
  becomeStream(): void {
    if (this.#streams >= this.#options.maxStreams) throw overloaded();
    this.#requests -= 1;
    this.#streams += 1;
  }

  leave(stream: boolean): void {
    if (stream) this.#streams -= 1;
    else this.#requests -= 1;
  }
}

/** One request's stay at an upstream: the place it takes, and what it tells of the upstream's health. */
export class Visit {
  readonly #admission: Admission;
  readonly #options: AdmissionOptions;
  readonly #probe: boolean;
  #judged = false;
  #stream: boolean;
  #over = false;

  constructor(admission: Admission, options: AdmissionOptions, probe: boolean, stream: boolean) {
    this.#admission = admission;
    this.#options = options;
    this.#probe = probe;
    this.#stream = stream;
  }

  /** The head of an answer has come. However its body ends, the upstream is there. */
  answered(status: number): void {
    if (this.#judged) return;
    this.#judged = true;
    if (this.#options.failureStatuses.has(status)) this.#options.breaker.failed(this.#probe);
    else this.#options.breaker.succeeded();
  }

  /** There was no answer, or none that can be used. */
  failed(failure: GatewayError): void {
    if (this.#judged) return;
    if (failure.code === 'upstream_unreachable' || failure.code === 'upstream_timeout') {
      this.#judged = true;
      this.#options.breaker.failed(this.#probe);
    } else if (failure.code === 'upstream_invalid') this.answered(0);
  }

  /** The answer is an event stream. Throws GatewayError `upstream_overloaded`. */
  becomeStream(): void {
    if (this.#stream) return;
    this.#admission.becomeStream();
    this.#stream = true;
  }

  /** To be called in the end, whatever happened; again is no harm. */
  leave(): void {
    if (this.#over) return;
    this.#over = true;
    this.#admission.leave(this.#stream);
    if (!this.#judged) this.#options.breaker.learntNothing(this.#probe);
  }
}

function overloaded(): GatewayError {
  return new GatewayError('upstream_overloaded', { headers: { 'retry-after': '1' } });
}
