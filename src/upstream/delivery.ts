import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { Dispatcher, Pool } from 'undici';
import { GatewayError } from '../errors.ts';
import { cutOff, flushSoon, isEventStream } from './answer-stream.ts';
import { answerTooLarge, byteCount } from './body-limit.ts';
import { ClientGone, upstreamFailure, wasStaleConnection } from './failures.ts';

/** What one delivery needs: the request for the upstream, and where and how its answer goes. */
export interface DeliveryPlan {
  readonly pool: Pool;
  readonly request: Dispatcher.DispatchOptions & { readonly body: Readable | null };
  readonly response: ServerResponse;
  /** Milliseconds between two pieces of the body. */
  readonly timeout: number;
  /** The most bytes of the body that are passed on, unless it is an event stream. */
  readonly limit: number;
  /** Makes the client's fields of the final status and the upstream's raw fields; may throw GatewayError. */
  readonly fields: (status: number, raw: readonly string[]) => string[];
}

/**
 * One request on its way to an upstream, one answer on its way back, as a handler of undici's dispatcher. Out: resolves
 * when the answer has been passed on, cut off, or has no client any more; rejects with a GatewayError only while
 * nothing has been written, so that the caller can still answer.
 */
export function deliver(plan: DeliveryPlan): Promise<void> {
  return new Promise((resolve, reject) => new Delivery(plan, resolve, reject).send());
}

class Delivery implements Dispatcher.DispatchHandler {
  readonly #plan: DeliveryPlan;
  readonly #resolve: () => void;
  readonly #reject: (failure: GatewayError) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** A safe request without a body may be sent once more, when the kept connection turns out to be closed. */
  #maySendAgain: boolean;
  #isTooLarge: (size: number) => boolean;
  #answered = false;
  #gone = false;

  constructor(plan: DeliveryPlan, resolve: () => void, reject: (failure: GatewayError) => void) {
    this.#plan = plan;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#isTooLarge = byteCount(plan.limit);
    const { method, body } = plan.request;
    this.#maySendAgain = (method === 'GET' || method === 'HEAD') && body === null;
  }

  send(): void {
    const { request, response, pool } = this.#plan;
    if (response.destroyed) {
      request.body?.destroy();
      this.#resolve();
      return;
    }
    response.once('close', () => this.#onClientClose());
    pool.dispatch(request, this);
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
    // 100 to 199 are not the answer (RFC 9110 §15.2); what is below 100 is none at all and fails in undici's parser.
    if (status >= 100 && status < 200) return;
    const { response, fields } = this.#plan;
    const raw = decodeFields(controller.rawHeaders);
    // A throw here aborts the request with that error: nothing has been written yet.
    response.writeHead(status, fields(status, raw));
    if (isEventStream(raw)) {
      this.#isTooLarge = () => false;
      response.flushHeaders();
    } else {
      this.#idle = setTimeout(() => this.#onIdle(controller), this.#plan.timeout);
      flushSoon(response);
    }
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
    if (this.#gone || error instanceof ClientGone) this.#finish();
    else if (this.#maySendAgain && !this.#answered && wasStaleConnection(error)) {
      this.#maySendAgain = false;
      this.#plan.pool.dispatch(this.#plan.request, this);
    } else if (response.headersSent) {
      cutOff(response);
      this.#finish();
    } else {
      clearTimeout(this.#idle);
      this.#reject(upstreamFailure(error));
    }
  }

  /** While the client is slow to read, the upstream cannot be blamed for sending nothing. */
  #onIdle(controller: Dispatcher.DispatchController): void {
    if (controller.paused) this.#idle?.refresh();
    else controller.abort(new GatewayError('upstream_timeout'));
  }

  #finish(): void {
    clearTimeout(this.#idle);
    this.#resolve();
  }
}

/** undici gives names and values as bytes; a field is Latin-1 on the wire and is passed on as the same bytes. */
function decodeFields(raw: Dispatcher.DispatchController['rawHeaders']): string[] {
  if (!Array.isArray(raw)) return [];
  return raw.map((part) => (typeof part === 'string' ? part : part.toString('latin1')));
}

/** Runs in an event of the client's socket, where a throw of undici's parser would end the process. */
function resume(controller: Dispatcher.DispatchController): void {
  try {
    controller.resume();
  } catch (error) {
    controller.abort(error as Error);
  }
}
