import type { UpstreamConfig } from '../config/schema.ts';
import { GatewayError } from '../errors.ts';
import type { Breaker } from './breaker.ts';

/**
 * Decides whether a request may be sent to an upstream. Requests and event streams are counted separately: a request is
 * short-lived and a stream is not, so streams that members hold open never use up the slots for requests. Requests are
 * not queued, because a queued request would also hold on to the client's connection: over the limit the response is an
 * immediate 503.
 */
export class Admission {
  readonly #maxRequests: number;
  readonly #maxStreams: number;
  readonly #breaker: Breaker;
  /** Called when the upstream could not be reached or did not respond in time. */
  readonly unanswered: () => void;
  #requests = 0;
  #streams = 0;

  /** @param limits maximum concurrent requests, each on its own connection, and maximum concurrent event streams */
  constructor(
    { maxRequests, maxStreams }: Pick<UpstreamConfig, 'maxRequests' | 'maxStreams'>,
    breaker: Breaker,
    unanswered = () => {},
  ) {
    this.#maxRequests = maxRequests;
    this.#maxStreams = maxStreams;
    this.#breaker = breaker;
    this.unanswered = unanswered;
  }

  /**
   * Admits one request, or throws GatewayError `upstream_overloaded` or `upstream_unavailable`, with Retry-After.
   * @param stream whether the request accepts only an event stream. It then takes a stream slot from the start, so that
   * after an interruption as many clients can reconnect as before: a browser's EventSource does not retry after a 503.
   */
  enter(stream = false): AdmittedCall {
    if (stream ? this.#streams >= this.#maxStreams : this.#requests >= this.#maxRequests) throw overloaded();
    const probe = this.#breaker.admit();
    if (stream) this.#streams += 1;
    else this.#requests += 1;
    return new AdmittedCall(this, this.#breaker, probe, stream);
  }

  /** Current counts and health, for metrics, the console and tests. */
  state() {
    const [breaker, outage] = [this.#breaker.state(), this.#breaker.outage()];
    return { requests: this.#requests, streams: this.#streams, breaker, outage };
  }

  /** Throws GatewayError `upstream_overloaded`. Called at most once by an admitted call. */
  becomeStream(): void {
    if (this.#streams >= this.#maxStreams) throw overloaded();
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
  readonly #breaker: Breaker;
  readonly #probe: boolean;
  #isReported = false;
  #stream: boolean;
  #over = false;

  constructor(admission: Admission, breaker: Breaker, probe: boolean, stream: boolean) {
    this.#admission = admission;
    this.#breaker = breaker;
    this.#probe = probe;
    this.#stream = stream;
  }

  /** The response head has arrived. However the body ends, the upstream is reachable. */
  answered(): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.#breaker.succeeded();
  }

  /** No response, or none that can be used. */
  failed(failure: GatewayError): void {
    if (this.#isReported) return;
    if (failure.code === 'upstream_unreachable' || failure.code === 'upstream_timeout') {
      this.#isReported = true;
      this.#breaker.failed(this.#probe);
      this.#admission.unanswered();
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
    if (!this.#isReported) this.#breaker.learntNothing(this.#probe);
  }
}

function overloaded(): GatewayError {
  return new GatewayError('upstream_overloaded', { headers: { 'retry-after': '1' } });
}
