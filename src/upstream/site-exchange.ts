import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../errors.ts';
import { whenClosed } from '../http/when-closed.ts';
import type { Visit } from './admission.ts';
import { cutOff, flushSoon, isEventStream, noteEventStream, resetUnframed } from './answer-stream.ts';
import { upstreamFailure, wasStaleConnection } from './failures.ts';
import { type ResponsePolicy, responseHead } from './headers.ts';

export interface SiteExchangeOptions {
  readonly response: ServerResponse;
  /** Milliseconds for the head, and between two pieces of either body. */
  readonly timeout: number;
  /** Its place at the upstream, given back in the end. */
  readonly visit: Visit;
  readonly responsePolicy: ResponsePolicy;
  /** Names and values in turn, which the answer has besides the site's. */
  readonly ownFields: readonly string[];
  /** Hands the request to http-proxy-middleware. */
  readonly send: (failed: (error: unknown) => void) => void;
  readonly hasBody: boolean;
  /** Told when the head of the answer is here: whether an event stream follows, and the Content-Type. */
  readonly answered: (streaming: boolean, contentType: string) => void;
}

/**
 * One request through http-proxy-middleware: what its events mean for the client. `run` resolves when the answer was
 * passed on, cut off, or has no client any more, and rejects with a GatewayError while nothing has been written.
 * The handlers never throw: they run inside node:http's events, where a throw ends the process.
 */
export class SiteExchange {
  readonly #options: SiteExchangeOptions;
  readonly #done = Promise.withResolvers<void>();
  readonly #timer: NodeJS.Timeout;
  #outgoing: ClientRequest | undefined;
  #answer: IncomingMessage | undefined;
  #answered = false;
  #settled = false;
  /** A safe request without a body may be sent once more, when the kept connection turns out to be closed. */
  #resendable: boolean;

  constructor(options: SiteExchangeOptions) {
    this.#options = options;
    const { method } = options.response.req;
    this.#resendable = !options.hasBody && (method === 'GET' || method === 'HEAD');
    this.#timer = setTimeout(() => this.#onTimeout(), options.timeout);
  }

  run(): Promise<void> {
    const { response, send, hasBody } = this.#options;
    whenClosed(response, () => this.#settle());
    // Paused again, or the body would run out before httpxy has a socket to pipe it to.
    if (hasBody) response.req.on('data', () => this.#timer.refresh()).pause();
    if (response.destroyed) this.#settle();
    else send((error) => this.fail(error));
    return this.#done.promise;
  }

  /** A socket was found for the request; httpxy has not written to it yet. */
  onOutgoing(outgoing: ClientRequest): void {
    this.#outgoing = outgoing;
    // Whatever else happens, this is the last event: an unasked 101, for one, brings neither answer nor error.
    outgoing.once('close', () => {
      if (!this.#answered && outgoing === this.#outgoing)
        this.fail(new Error('The connection closed without an answer.'));
    });
    if (this.#settled) outgoing.destroy();
  }

  onAnswer(answer: IncomingMessage): void {
    this.#answered = true;
    const { response, responsePolicy, visit, ownFields } = this.#options;
    const streaming = isEventStream(answer.rawHeaders);
    try {
      const status = answer.statusCode ?? 0;
      visit.answered(status);
      if (streaming) visit.becomeStream();
      // No reason phrase: the upstream's may hold what node:http refuses to write.
      const head = responseHead(status, answer.rawHeaders, responsePolicy, false);
      response.writeHead(head.status, ownFields.concat(head.fields));
    } catch (error) {
      discard(answer);
      this.fail(error);
      return;
    }
    this.#options.answered(streaming, answer.headers['content-type'] ?? '');
    if (streaming) {
      clearTimeout(this.#timer);
      noteEventStream(response, answer.rawHeaders);
      response.flushHeaders();
    } else {
      answer.on('data', () => this.#timer.refresh());
      flushSoon(response);
    }
    // Before httpxy's own listeners, which close the connection to the client.
    answer.once('error', () => resetUnframed(response));
    this.#answer = answer;
    answer.pipe(response);
  }

  fail(error: unknown): void {
    if (this.#settled) return;
    const { response, send } = this.#options;
    if (this.#resendable && !this.#answered && this.#outgoing?.reusedSocket === true && wasStaleConnection(error)) {
      this.#resendable = false;
      this.#outgoing = undefined;
      send((again) => this.fail(again));
      return;
    }
    // All of it came, and is on its way to the client: what follows it on that connection is nobody's.
    if (this.#answer?.complete === true) return;
    if (response.headersSent || response.destroyed) {
      // To node:http a reset is the end of an answer without a length: it must not become the end of ours.
      this.#answer?.unpipe(response);
      cutOff(response);
      this.#settle();
      return;
    }
    const failure = upstreamFailure(error);
    this.#options.visit.failed(failure);
    this.#leave();
    this.#done.reject(failure);
  }

  #onTimeout(): void {
    // While the client is slow to read, the upstream cannot be blamed for sending nothing.
    if (this.#options.response.writableNeedDrain) {
      this.#timer.refresh();
      return;
    }
    this.fail(new GatewayError('upstream_timeout'));
    this.#outgoing?.destroy();
  }

  #settle(): void {
    if (this.#settled) return;
    this.#leave();
    this.#done.resolve();
  }

  #leave(): void {
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#options.visit.leave();
  }
}

/**
 * Drops an answer that cannot be used. httpxy, when this turn ends, will have tied the client's connection to it; that
 * tie is undone first, or it would take our own 502 down with it.
 */
function discard(answer: IncomingMessage): void {
  process.nextTick(() => {
    answer
      .removeAllListeners('close')
      .removeAllListeners('error')
      .on('error', () => undefined);
    answer.destroy();
  });
}
