import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { GatewayError } from '../errors.ts';
import { whenClosed } from '../http/when-closed.ts';
import type { Visit } from './admission.ts';
import { cutOff, isEventStream, noteEventStream } from './answer-stream.ts';
import { answerTooLarge, byteCount } from './body-limit.ts';
import type { Disposition } from './credentials/credential.ts';
import { ClientGone, upstreamFailure, wasStaleConnection } from './failures.ts';
import type { ResponseHead } from './headers.ts';
import type { Upstream } from './pools.ts';

/** What one delivery needs: the request for the upstream, and how its response is passed on. */
export interface DeliveryPlan {
  readonly upstream: Pick<Upstream, 'connections' | 'admission' | 'timeouts'>;
  /**
   * `servername`: the TLS server name (SNI) of an https upstream. undici accepts it, but its types do not include it.
   */
  readonly request: Dispatcher.DispatchOptions & { readonly body: Readable | null; readonly servername: string };
  readonly response: ServerResponse;
  /** The maximum number of body bytes to pass on, unless the body is an event stream. */
  readonly limit: number;
  /** Inspects the final status and the upstream's raw fields. The response is held back until it is done. */
  readonly judge?: ((status: number, raw: readonly string[]) => Disposition | Promise<Disposition>) | undefined;
  /** Turns the final status and the upstream's raw fields into those for the client. May throw GatewayError. */
  readonly head: (status: number, raw: readonly string[]) => ResponseHead;
}

/**
 * Sends one request to an upstream and passes its response on, as a handler of undici's dispatcher. Resolves to
 * `deliver` when the response has been passed on or cut off, or when the client has disconnected; to what else the
 * plan's judge says when it says so, with nothing written. Rejects with a GatewayError only while nothing has been
 * written, so that the caller can still respond. Throws before anything is sent if the upstream is at its limit or its
 * breaker is open (see Admission).
 */
export function deliver(plan: DeliveryPlan): Promise<Disposition> {
  const visit = plan.upstream.admission.enter(plan.response.req.headers.accept === 'text/event-stream');
  return new Promise((resolve, reject) => new Delivery(plan, visit, resolve, reject).send());
}

class Delivery implements Dispatcher.DispatchHandler {
  readonly #plan: DeliveryPlan;
  readonly #visit: Visit;
  readonly #resolve: (disposition: Disposition) => void;
  readonly #reject: (failure: GatewayError) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #idle: NodeJS.Timeout | undefined;
  #isTooLarge: (size: number) => boolean;
  /**
   * Whether the request may be sent once more on a new connection. True only for a safe request (RFC 9110 section
   * 9.2.2: GET, HEAD) without a body that went out on a kept-alive connection, which turned out to be closed before any
   * byte of a response.
   */
  #maySendAgain = false;
  #answered = false;
  #disposition: Disposition = 'deliver';
  #gone = false;
  #over = false;

  constructor(
    plan: DeliveryPlan,
    visit: Visit,
    resolve: (disposition: Disposition) => void,
    reject: (failure: GatewayError) => void,
  ) {
    this.#plan = plan;
    this.#visit = visit;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#isTooLarge = byteCount(plan.limit);
  }

  send(): void {
    const { request, response, upstream } = this.#plan;
    if (response.destroyed) {
      request.body?.destroy();
      this.#finish();
      return;
    }
    whenClosed(response, () => this.#onClientClose());
    const kept = upstream.connections.send(request, this, false);
    const { method, body } = request;
    this.#maySendAgain = kept && body === null && (method === 'GET' || method === 'HEAD');
  }

  #onClientClose(): void {
    if (this.#plan.response.writableFinished) return;
    this.#gone = true;
    this.#controller?.abort(new ClientGone());
    this.#finish();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#gone) controller.abort(new ClientGone());
  }

  onResponseStarted(): void {
    this.#answered = true;
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number): void {
    // 100 to 199 are interim responses (RFC 9110 section 15.2). A status below 100 is invalid and fails in undici's
    // parser.
    const { judge, upstream } = this.#plan;
    if (status >= 100 && status < 200) {
      // undici restarts its timeout after each interim response, so it could wait forever.
      this.#idle ??= setTimeout(() => controller.abort(new GatewayError('upstream_timeout')), upstream.timeouts.head);
      return;
    }
    clearTimeout(this.#idle);
    this.#visit.answered(status);
    const raw = decodeFields(controller.rawHeaders);
    const disposition = judge?.(status, raw) ?? 'deliver';
    if (disposition instanceof Promise) {
      controller.pause();
      disposition.then(
        (known) => this.#goOn(controller, status, raw, known),
        (thrown: Error) => controller.abort(thrown),
      );
    } else this.#begin(controller, status, raw, disposition);
  }

  /** This runs outside undici's own call, so nothing else would catch an exception. */
  #goOn(
    controller: Dispatcher.DispatchController,
    status: number,
    raw: readonly string[],
    disposition: Disposition,
  ): void {
    if (this.#over) return;
    try {
      this.#begin(controller, status, raw, disposition);
      controller.resume();
    } catch (thrown) {
      controller.abort(thrown as Error);
    }
  }

  #begin(
    controller: Dispatcher.DispatchController,
    status: number,
    raw: readonly string[],
    disposition: Disposition,
  ): void {
    if (disposition !== 'deliver') {
      this.#disposition = disposition;
      controller.abort(new Error('The response is not for the client.'));
      return;
    }
    const { response, head, upstream } = this.#plan;
    const stream = isEventStream(raw);
    // An exception here aborts the request with that error: nothing has been written yet.
    if (stream) this.#visit.becomeStream();
    const given = head(status, raw);
    response.writeHead(given.status, given.fields);
    const { body, stream: silence } = upstream.timeouts;
    const watch = (milliseconds: number): void => {
      this.#idle = setTimeout(() => this.#onIdle(controller), milliseconds);
    };
    if (stream) {
      watch(silence);
      this.#isTooLarge = () => false;
      noteEventStream(response, raw);
      response.flushHeaders();
      return;
    }
    // Most responses are complete at the end of this turn: they leave in one packet and need no idle timer.
    setImmediate(() => {
      if (this.#over) return;
      response.flushHeaders();
      watch(body);
    });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#idle?.refresh();
    const { response, limit } = this.#plan;
    if (this.#isTooLarge(chunk.length)) {
      controller.abort(answerTooLarge(limit));
      return;
    }
    if (response.write(chunk)) return;
    controller.pause();
    response.once('drain', () => resume(controller));
  }

  onResponseEnd(): void {
    this.#plan.response.end();
    this.#finish();
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    const { response } = this.#plan;
    if (this.#gone || error instanceof ClientGone || this.#disposition !== 'deliver') this.#finish();
    else if (this.#maySendAgain && !this.#answered && wasStaleConnection(error)) {
      this.#maySendAgain = false;
      this.#plan.upstream.connections.send(this.#plan.request, this, true);
    } else if (response.headersSent) {
      cutOff(response);
      this.#finish();
    } else {
      const failure = upstreamFailure(error);
      this.#visit.failed(failure);
      this.#leave();
      this.#reject(failure);
    }
  }

  /** While the client is slow to read, it is not the upstream's fault that no data arrives. */
  #onIdle(controller: Dispatcher.DispatchController): void {
    if (controller.paused) this.#idle?.refresh();
    else controller.abort(new GatewayError('upstream_timeout'));
  }

  #finish(): void {
    this.#leave();
    this.#resolve(this.#disposition);
  }

  #leave(): void {
    this.#over = true;
    clearTimeout(this.#idle);
    this.#visit.leave();
  }
}

/** undici returns names and values as bytes. A field is Latin-1 on the wire and is passed on as the same bytes. */
function decodeFields(raw: Dispatcher.DispatchController['rawHeaders']): string[] {
  if (!Array.isArray(raw)) return [];
  return raw.map((part) => (typeof part === 'string' ? part : part.toString('latin1')));
}

/** Runs in an event of the client's socket, where an exception from undici's parser would end the process. */
function resume(controller: Dispatcher.DispatchController): void {
  try {
    controller.resume();
  } catch (error) {
    controller.abort(error as Error);
  }
}
