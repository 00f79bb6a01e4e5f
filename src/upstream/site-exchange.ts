import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError } from '../errors.ts';
import { whenClosed } from '../http/when-closed.ts';
import type { Visit } from './admission.ts';
import { cutOff, flushSoon, isEventStream, noteEventStream, resetUnframed } from './answer-stream.ts';
import { upstreamFailure, wasStaleConnection } from './failures.ts';
import { type ResponsePolicy, responseHead } from './headers.ts';

export interface SiteExchangeOptions {
  readonly response: ServerResponse;
  /** Milliseconds for the head, and between two chunks of either body. */
  readonly timeout: number;
  /** The slot at the upstream, released at the end. */
  readonly visit: Visit;
  readonly responsePolicy: ResponsePolicy;
  /** Alternating names and values that are added to the site's response. */
  readonly ownFields: readonly string[];
  /** Hands the request to http-proxy-middleware. */
  readonly send: (failed: (error: unknown) => void) => void;
  readonly hasBody: boolean;
  /** Called when the head of the response has arrived, with whether an event stream follows and the Content-Type. */
  readonly answered: (streaming: boolean, contentType: string) => void;
}

/**
 * One request through http-proxy-middleware: handles its events. `run` resolves when the response was passed on or cut
 * off, or when the client has disconnected, and rejects with a GatewayError while nothing has been written. The
 * handlers never throw: they run inside node:http's events, where an exception ends the process.
 */
export class SiteExchange {
  readonly #options: SiteExchangeOptions;
  readonly #done = Promise.withResolvers<void>();
  readonly #timer: NodeJS.Timeout;
  #outgoing: ClientRequest | undefined;
  #answer: IncomingMessage | undefined;
  #answered = false;
  #settled = false;
  /** A safe request without a body may be sent once more if the kept-alive connection turns out to be closed. */
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
    // Paused again, or the body would be consumed before httpxy has a socket to pipe it to.
    if (hasBody) response.req.on('data', () => this.#timer.refresh()).pause();
    if (response.destroyed) this.#settle();
    else send((error) => this.fail(error));
    return this.#done.promise;
  }

  /** The request has a socket; httpxy has not written to it yet. */
  onOutgoing(outgoing: ClientRequest): void {
    this.#outgoing = outgoing;
    // This is the last event in every case: an unsolicited 101, for example, causes neither a response nor an error.
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
      // No reason phrase: the upstream's may contain characters that node:http refuses to write.
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
    // Added before httpxy's own listeners, which close the connection to the client.
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
    // The whole response has arrived and is being passed on: later errors on that connection do not matter.
    if (this.#answer?.complete === true) return;
    if (response.headersSent || response.destroyed) {
      // node:http treats a reset as the end of a response without a length. It must not end ours as if it were
      // complete.
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
    // While the client is slow to read, it is not the upstream's fault that no data arrives.
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
 * Drops a response that cannot be used. By the end of this turn httpxy will have tied the client's connection to it.
 * Its listeners are removed first, or destroying the response would also close the connection before our own 502 is
 * sent.
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
