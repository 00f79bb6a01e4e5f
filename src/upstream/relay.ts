import type { ServerResponse } from 'node:http';
import { GatewayError } from '../errors.ts';
import { writeChunk } from '../http/write-chunk.ts';
import { noteEventStream } from './answer-stream.ts';
import { answerTooLarge } from './body-limit.ts';
import type { ResponseHead } from './headers.ts';
import type { RequestControl } from './http-client.ts';
import type { BodyMap } from './json-links.ts';
import type { Upstream } from './pools.ts';

/** Writes an upstream's response to the client: with backpressure, within the limit and the upstream's timeouts. */
export class Relay {
  readonly #response: ServerResponse;
  readonly #timeouts: Upstream['timeouts'];
  #limit: number;
  #size = 0;
  #map: BodyMap | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** When data last arrived, from `performance.now()`. To restart the timer for each chunk would cost more. */
  #heard = 0;
  #flushed = false;
  #over = false;

  /** @param limit the maximum number of body bytes to pass on, unless the body is an event stream */
  constructor(response: ServerResponse, timeouts: Upstream['timeouts'], limit: number) {
    this.#response = response;
    this.#timeouts = timeouts;
    this.#limit = limit;
  }

  /** An interim response. undici restarts its timeout after each one, so it could wait forever. */
  interim(controller: RequestControl): void {
    this.#idle ??= setTimeout(() => controller.abort(new GatewayError('upstream_timeout')), this.#timeouts.head);
  }

  /** The final response has arrived. */
  arrived(): void {
    clearTimeout(this.#idle);
  }

  /** @param raw the upstream's fields */
  head(controller: RequestControl, head: ResponseHead, raw: readonly string[], isStream: boolean): void {
    const response = this.#response;
    response.writeHead(head.status, head.fields);
    this.#map = head.body;
    if (isStream) {
      this.#limit = Number.POSITIVE_INFINITY;
      noteEventStream(response, raw);
      this.#flush(controller, this.#timeouts.stream);
      return;
    }
    // Most responses are complete at the end of this turn: they leave in one packet and need no idle timer.
    setImmediate(() => {
      if (!this.#over) this.#flush(controller, this.#timeouts.body);
    });
  }

  data(controller: RequestControl, chunk: Buffer, release?: () => void): void {
    this.#heard = performance.now();
    this.#size += chunk.length;
    if (this.#size > this.#limit) controller.abort(answerTooLarge(this.#limit));
    else if (this.#map === undefined) this.#write(controller, chunk, release);
    else {
      const mapped = this.#map.push(chunk);
      release?.();
      if (mapped.length > 0) this.#write(controller, mapped, undefined);
    }
  }

  /** The body is complete. */
  end(): void {
    const rest = this.#map?.end();
    if (rest === undefined || rest.length === 0) this.#response.end();
    else this.#response.end(rest);
  }

  #write(controller: RequestControl, chunk: Buffer, release: (() => void) | undefined): void {
    const response = this.#response;
    if (!(this.#flushed ? writeChunk(response, chunk, release) : response.write(chunk, release))) {
      controller.pause();
      response.once('drain', () => {
        this.#heard = performance.now();
        resume(controller);
      });
    }
  }

  close(): void {
    this.#over = true;
    clearTimeout(this.#idle);
  }

  #flush(controller: RequestControl, idleTimeout: number): void {
    this.#response.flushHeaders();
    this.#flushed = true;
    this.#heard = performance.now();
    this.#watch(controller, idleTimeout, idleTimeout);
  }

  /** While the client is slow to read, it is not the upstream's fault that no data arrives. */
  #watch(controller: RequestControl, idleTimeout: number, wait: number): void {
    this.#idle = setTimeout(() => {
      const left = controller.paused ? idleTimeout : this.#heard + idleTimeout - performance.now();
      if (left > 0) this.#watch(controller, idleTimeout, left);
      else controller.abort(new GatewayError('upstream_timeout'));
    }, wait);
  }
}

/** Runs in an event of the client's socket, where an exception from undici's parser would end the process. */
function resume(controller: RequestControl): void {
  try {
    controller.resume();
  } catch (error) {
    controller.abort(error as Error);
  }
}
