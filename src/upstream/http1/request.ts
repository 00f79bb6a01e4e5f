import { Readable } from 'node:stream';
import { GatewayError } from '../../errors.ts';
import type { HttpRequest, RequestControl, ResponseHandler } from '../http-client.ts';
import type { Waiting } from './deadlines.ts';

/** The connection that a request is on. */
interface Carrier {
  /** Goes on reading the response. */
  resume(): void;
  /** Ends the connection, and with it the request. */
  fail(reason: Error): void;
}

/** A request on its way, and its handler's side of it. */
export class Request implements RequestControl, Waiting {
  readonly sent: HttpRequest;
  readonly handler: ResponseHandler;
  /** Never to be sent on a connection that has carried another request. */
  readonly fresh: boolean;
  rawHeaders: readonly string[] = [];
  paused = false;
  isOver = false;
  /** Its body is a stream that has been asked for its bytes. */
  readsBody = false;
  /** Undefined until one has been found. */
  connection: Carrier | undefined;
  deadline = 0;
  earlier: Waiting | undefined;
  later: Waiting | undefined;

  constructor(sent: HttpRequest, handler: ResponseHandler, fresh: boolean) {
    this.sent = sent;
    this.handler = handler;
    this.fresh = fresh;
    // At any time, also before there is a connection: without a listener an error would end the process.
    if (sent.body instanceof Readable) sent.body.on('error', (error) => this.abort(error));
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    if (!this.paused) return;
    this.paused = false;
    if (!this.isOver) this.connection?.resume();
  }

  abort(reason: Error): void {
    if (this.isOver) return;
    const { connection } = this;
    if (connection === undefined) this.fail(reason);
    else connection.fail(reason);
  }

  expired(): void {
    this.abort(new GatewayError('upstream_timeout'));
  }

  fail(error: Error): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#discardBody();
    this.handler.onResponseError(this, error);
  }

  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#discardBody();
    this.handler.onResponseEnd();
  }

  /**
   * After an early response or a failure, the rest is not sent. A body that was not asked for its bytes is left alone: its
   * client may be waiting for 100 Continue, and destroying the body would make the gate ask for it.
   */
  #discardBody(): void {
    if (this.readsBody) (this.sent.body as Readable).destroy();
  }
}
