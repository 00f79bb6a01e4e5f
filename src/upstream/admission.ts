import { GatewayError } from '../errors.ts';
import type { Breaker, BreakerState } from './breaker.ts';

export interface AdmissionOptions {
  /** Maximum concurrent requests; each uses its own connection. */
  readonly maxRequests: number;
  /** Maximum concurrent event streams. */
  readonly maxStreams: number;
  readonly breaker: Breaker;
}

/**
 * Decides whether a request may be sent to an upstream. Requests and event streams are counted separately: a request is
 * short-lived and a stream is not, so streams that members hold open never use up the slots for requests. Requests are
 * not queued, because a queued request would also hold on to the client's connection: over the limit the response is an
 * immediate 503.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  #requests = 0;
  #streams = 0;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /**
   * Admits one request, or throws GatewayError `upstream_overloaded` or `upstream_unavailable`, with Retry-After.
   * @param stream whether the request accepts only an event stream. It then takes a stream slot from the start, so that
   * after an interruption as many clients can reconnect as before: a browser's EventSource does not retry after a 503.
   */
  enter(stream = false): AdmittedCall {
    const { maxRequests, maxStreams, breaker } = this.#options;
    if (stream ? this.#streams >= maxStreams : this.#requests >= maxRequests) throw overloaded();
    const probe = breaker.admit();
    if (stream) this.#streams += 1;
    else this.#requests += 1;
    return new AdmittedCall(this, this.#options, probe, stream);
  }

  /** Current counts, for metrics and tests. */
  state(): { readonly requests: number; readonly streams: number; readonly breaker: BreakerState } {
    return { requests: this.#requests, streams: this.#streams, breaker: this.#options.breaker.state() };
  }

  /** Throws GatewayError `upstream_overloaded`. Called once by a visit. */
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

/** One admitted request: the slot it occupies and what its outcome says about the upstream's health. */
export class AdmittedCall {
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

  /** The response head has arrived. However the body ends, the upstream is reachable. */
  answered(): void {
    if (this.#judged) return;
    this.#judged = true;
    this.#options.breaker.succeeded();
  }

  /** No response, or none that can be used. */
  failed(failure: GatewayError): void {
    if (this.#judged) return;
    if (failure.code === 'upstream_unreachable' || failure.code === 'upstream_timeout') {
      this.#judged = true;
      this.#options.breaker.failed(this.#probe);
    } else if (failure.code === 'upstream_invalid') this.answered();
  }

  /** The response is an event stream. Throws GatewayError `upstream_overloaded`. */
  becomeStream(): void {
    if (this.#stream) return;
    this.#admission.becomeStream();
    this.#stream = true;
  }

  /** Must be called at the end in every case. Calling it again has no effect. */
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
