import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { GatewayError } from '../errors.ts';
import { whenClosed } from '../http/when-closed.ts';
import type { AdmittedCall } from './admission.ts';
import { cutOff, isEventStream } from './answer-stream.ts';
import type { Disposition } from './credentials/credential.ts';
import { ClientGone, upstreamFailure, wasStaleConnection } from './failures.ts';
import type { ResponseHead } from './headers.ts';
import { type HttpRequest, type RequestControl, type ResponseHandler, responseFields } from './http-client.ts';
import type { Upstream } from './pools.ts';
import { Relay } from './relay.ts';

/** What one delivery needs: the request for the upstream, and how its response is passed on. */
export interface DeliveryPlan {
  readonly upstream: Pick<Upstream, 'connections' | 'admission' | 'timeouts'>;
  readonly request: HttpRequest;
  readonly response: ServerResponse;
  /** The maximum number of body bytes to pass on, unless the body is an event stream. */
  readonly limit: number;
  /** Inspects the final status and the upstream's raw fields. The response is held back until it is done. */
  readonly inspect?: ((status: number, raw: readonly string[]) => Disposition | Promise<Disposition>) | undefined;
  /** Turns the final status and the upstream's raw fields into those for the client. May throw GatewayError. */
  readonly head: (status: number, raw: readonly string[]) => ResponseHead;
}

/**
 * Sends one request to an upstream and passes its response on, as the handler of its response. Resolves to
 * `deliver` when the response has been passed on or cut off, or when the client has disconnected; with nothing written,
 * to what else the plan’s `inspect` has decided. Rejects with a GatewayError only while nothing has been written, so that
 * the caller can still respond. Throws before anything is sent if the upstream is at its limit or its breaker is open
 * (see Admission).
 */
export function deliver(plan: DeliveryPlan): Promise<Disposition> {
  const { request, response, upstream } = plan;
  if (response.destroyed) {
    discard(request);
    return Promise.resolve('deliver');
  }
  const admitted = upstream.admission.enter(response.req.headers.accept === 'text/event-stream');
  return new Delivery(plan, admitted).run();
}

interface UpstreamHead {
  readonly status: number;
  readonly raw: readonly string[];
}

class Delivery implements ResponseHandler {
  readonly #plan: DeliveryPlan;
  readonly #admitted: AdmittedCall;
  readonly #relay: Relay;
  readonly #done = Promise.withResolvers<Disposition>();
  #controller: RequestControl | undefined;
  /** True for a repeatable request on a kept-alive connection, before any response. */
  #maySendAgain = false;
  #disposition: Disposition = 'deliver';
  #over = false;

  constructor(plan: DeliveryPlan, admitted: AdmittedCall) {
    this.#plan = plan;
    this.#admitted = admitted;
    this.#relay = new Relay(plan.response, plan.upstream.timeouts, plan.limit);
  }

  run(): Promise<Disposition> {
    const { request, response, upstream } = this.#plan;
    whenClosed(response, this);
    this.#maySendAgain = upstream.connections.send(request, this, false) && isRepeatable(request);
    return this.#done.promise;
  }

  /** The client's connection, or the response on it. */
  closed(): void {
    if (this.#plan.response.writableFinished) return;
    this.#finish();
    this.#controller?.abort(new ClientGone());
  }

  onRequestStart(controller: RequestControl): void {
    this.#controller = controller;
    if (this.#over) controller.abort(new ClientGone());
  }

  onResponseStarted(): void {
    this.#maySendAgain = false;
  }

  onResponseStart(controller: RequestControl, status: number): void {
    // An interim response (RFC 9110 section 15.2).
    if (status >= 100 && status < 200) {
      this.#relay.interim(controller);
      return;
    }
    this.#relay.arrived();
    this.#admitted.answered();
    const head = { status, raw: responseFields(controller) };
    const disposition = this.#plan.inspect?.(status, head.raw) ?? 'deliver';
    if (disposition instanceof Promise) {
      controller.pause();
      // This runs outside the client's own call, so nothing else would catch an exception.
      disposition
        .then((known) => {
          if (this.#over) return;
          this.#begin(controller, head, known);
          controller.resume();
        })
        .catch((thrown: Error) => controller.abort(thrown));
    } else this.#begin(controller, head, disposition);
  }

  /** An exception here aborts the request with that error: nothing has been written yet. */
  #begin(controller: RequestControl, { status, raw }: UpstreamHead, disposition: Disposition): void {
    this.#disposition = disposition;
    if (disposition !== 'deliver') throw new Error('The response is not for the client.');
    const isStream = isEventStream(raw);
    if (isStream) this.#admitted.becomeStream();
    this.#relay.head(controller, this.#plan.head(status, raw), raw, isStream);
  }

  onResponseData(controller: RequestControl, chunk: Buffer, release?: () => void): void {
    this.#relay.data(controller, chunk, release);
  }

  onResponseEnd(): void {
    this.#relay.end();
    this.#finish();
  }

  onResponseError(_controller: RequestControl | null, error: Error): void {
    const { response, request, upstream } = this.#plan;
    if (this.#over || error instanceof ClientGone || this.#disposition !== 'deliver') this.#finish();
    else if (this.#maySendAgain && wasStaleConnection(error)) {
      this.#maySendAgain = false;
      upstream.connections.send(request, this, true);
    } else if (response.headersSent) {
      cutOff(response);
      this.#finish();
    } else this.#finish(upstreamFailure(error));
  }

  #finish(failure?: GatewayError): void {
    this.#over = true;
    this.#relay.close();
    if (failure !== undefined) this.#admitted.failed(failure);
    this.#admitted.leave();
    if (failure === undefined) this.#done.resolve(this.#disposition);
    else this.#done.reject(failure);
  }
}

/** Whether a request is safe (RFC 9110 section 9.2.2) and has no body. */
function isRepeatable({ method, body }: DeliveryPlan['request']): boolean {
  return body === null && (method === 'GET' || method === 'HEAD');
}

function discard({ body }: HttpRequest): void {
  if (body instanceof Readable) body.destroy();
}
