import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { GatewayError } from '../../errors.ts';
import { readOnAfterFailedWrite } from '../connector.ts';
import { lostConnection, unusableResponse } from '../failures.ts';
import type { ConnectionOwner } from './connection-owner.ts';
import { copyOut, READ_BUFFER } from './read-buffers.ts';
import type { Request } from './request.ts';
import { type RequestHead, requestHead } from './request-head.ts';
import { ResponseReader, type ResponseSink } from './response-reader.ts';
import { Upload, type UploadOwner, writeWhole } from './upload.ts';

/**
 * One connection to an upstream: one request at a time, and its response. Whatever does not belong to a response closes
 * the connection, so that it can never be taken for the response to the next request.
 */
export class Connection implements UploadOwner, ResponseSink {
  /** When it was opened, and until which tick of the client it may be used again. */
  readonly since: number;
  idleUntil = 0;
  readonly #owner: ConnectionOwner<Connection>;
  readonly #socket: Socket;
  readonly #reader = new ResponseReader(this);
  #request: Request | undefined;
  #upload: Upload | undefined;
  /** Bytes that were read and are not used yet. */
  #held: Buffer | undefined;
  #requestIsSent = false;
  #mustClose = false;
  #hasCarried = false;
  #receivedAny = false;
  #isReading = false;
  #isGuarded = false;
  /** Both directions work. */
  #isWhole = true;
  #deadline: NodeJS.Timeout | undefined;

  constructor(owner: ConnectionOwner<Connection>, request: Request, now: number) {
    this.#owner = owner;
    this.since = now;
    this.#request = request;
    request.connection = this;
    this.#socket = this.#connect(owner);
    this.#deadline = setTimeout(() => this.fail(new GatewayError('upstream_timeout')), owner.connectTimeout);
  }

  #connect({ host, port }: ConnectionOwner<Connection>): Socket {
    const onread = { buffer: READ_BUFFER, callback: (count: number) => this.#onRead(count) };
    return connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000, onread })
      .on('connect', () => this.#connected())
      .on('drain', () => this.#upload?.drained())
      .on('end', () => this.#ended())
      .on('error', (error) => this.#lost(error))
      .on('close', () => this.#closed());
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed && this.#isWhole;
  }

  /** Sends a request on a connection that has been released. */
  start(request: Request): void {
    this.#request = request;
    request.connection = this;
    this.#receivedAny = false;
    this.#send(request);
  }

  /** Closes the connection and reports the error to the handler of the request. */
  fail(error: Error): void {
    this.#socket.destroy();
    this.#leave()?.fail(error);
  }

  /** The handler of the request takes data again. */
  resume(): void {
    // The loop in `#use` goes on by itself.
    if (this.#isReading) return;
    const held = this.#held;
    this.#held = undefined;
    this.#use(held ?? READ_BUFFER, held?.length ?? 0);
    if (this.#request?.paused !== true) this.#socket.resume();
  }

  uploadStalls(isStalled: boolean): void {
    const request = this.#request;
    if (request === undefined || this.#reader.hasFinalHead) return;
    this.#owner.waitsNoMore(request);
    if (isStalled) this.#owner.waits(request);
  }

  uploadEnded(): void {
    this.#upload = undefined;
    this.#requestIsSent = true;
    // From now on everything depends on the upstream.
    this.uploadStalls(true);
  }

  uploadFailed(error: Error): void {
    this.#upload = undefined;
    this.fail(error);
  }

  #connected(): void {
    clearTimeout(this.#deadline);
    if (this.#request !== undefined) this.#send(this.#request);
  }

  #send(request: Request): void {
    try {
      this.#reader.start(request.sent.method);
      this.#write(request, requestHead(request.sent));
    } catch (thrown) {
      this.fail(thrown as Error);
    }
  }

  #write(request: Request, head: RequestHead): void {
    const { body } = request.sent;
    const socket = this.#socket;
    this.#mustClose = head.closes;
    if (body !== null && !this.#isGuarded) {
      this.#isGuarded = true;
      readOnAfterFailedWrite(socket, () => {
        this.#isWhole = false;
      });
    }
    if (body instanceof Readable) {
      this.#requestIsSent = false;
      request.readsBody = true;
      this.#upload = new Upload(socket, head, body, this);
      this.#upload.start();
      return;
    }
    this.#requestIsSent = true;
    writeWhole(socket, head, body);
    this.#owner.waits(request);
  }

  #onRead(count: number): boolean {
    let bytes: Buffer = READ_BUFFER;
    let length = count;
    if (this.#held !== undefined) {
      bytes = Buffer.concat([this.#held, READ_BUFFER.subarray(0, count)]);
      length = bytes.length;
      this.#held = undefined;
    }
    this.#use(bytes, length);
    return this.#request?.paused !== true;
  }

  /** Uses received bytes as far as they go, and keeps the rest. */
  #use(bytes: Buffer, length: number): void {
    this.#isReading = true;
    try {
      const used = this.#readResponse(bytes, length);
      // Only after an error there is no request any more, and nothing will be read.
      if (used < length && this.#request !== undefined) this.#held = Buffer.from(bytes.subarray(used, length));
    } catch (thrown) {
      this.fail(thrown as Error);
    } finally {
      this.#isReading = false;
    }
  }

  /** Returns how many bytes were used. */
  #readResponse(bytes: Buffer, length: number): number {
    const reader = this.#reader;
    for (let at = 0; ; ) {
      const request = this.#request;
      if (request === undefined) {
        // Not asked for: whose response would it be?
        if (at < length) this.#socket.destroy();
        return length;
      }
      if (request.paused) return at;
      if (reader.isComplete) {
        this.#complete(at < length);
        continue;
      }
      if (at === length) return at;
      if (!this.#requestIsSent && this.#upload?.hasBegun !== true) throw unusableResponse('bytes before the request');
      this.#receivedAny = true;
      at = reader.read(bytes, at, length);
      // More bytes are needed.
      if (this.#request === request && !request.paused && !reader.isComplete) return at;
    }
  }

  head(status: number, fields: readonly string[]): boolean {
    const request = this.#request;
    if (request === undefined) return false;
    if (status >= 200) this.#owner.waitsNoMore(request);
    request.rawHeaders = fields;
    request.handler.onResponseStart(request, status);
    return this.#request === request && !request.paused;
  }

  data(bytes: Buffer, from: number, to: number): boolean {
    const request = this.#request;
    if (request === undefined) return false;
    const { bytes: chunk, release } = copyOut(bytes, from, to);
    request.handler.onResponseData(request, chunk, release);
    return this.#request === request && !request.paused;
  }

  /** @param rest whether more bytes have arrived, which no request has asked for */
  #complete(rest: boolean): void {
    const { keep } = this.#reader;
    const isSent = this.#requestIsSent && this.#socket.writableLength === 0;
    const mayGoOn = keep > 0 && isSent && !this.#mustClose && !rest && this.isOpen;
    if (!mayGoOn) this.#socket.destroy();
    this.#hasCarried = true;
    const request = this.#leave();
    if (mayGoOn) this.#owner.released(this, keep);
    request?.end();
  }

  /** The upstream has closed its side. */
  #ended(): void {
    this.#isWhole = false;
    if (this.#request !== undefined && this.#reader.endsWithConnection && this.#held === undefined)
      this.#complete(false);
    else this.#lost(new Error('The upstream closed the connection before the end of its response.'));
  }

  #lost(error: Error): void {
    this.fail(lostConnection(error, this.#hasCarried && !this.#receivedAny));
  }

  #closed(): void {
    clearTimeout(this.#deadline);
    this.#lost(new Error('The connection was closed.'));
    this.#owner.closed(this);
  }

  /** Separates the request from the connection. */
  #leave(): Request | undefined {
    const request = this.#request;
    if (request === undefined) return undefined;
    this.#request = undefined;
    request.connection = undefined;
    this.#owner.waitsNoMore(request);
    this.#upload?.stop();
    this.#upload = undefined;
    this.#held = undefined;
    return request;
  }
}
