import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { RequestHead } from './request-head.ts';

/** What an upload reports to its connection. */
export interface UploadOwner {
  /** The upstream reads too slowly, or again. */
  uploadStalls(isStalled: boolean): void;
  uploadEnded(): void;
  uploadFailed(error: Error): void;
}

/**
 * Sends a request whose body is a stream, with backpressure. The head leaves with the first bytes of the body. A body
 * that is not as long as declared fails before a byte too many is written: the upstream would take it for the beginning
 * of another request.
 */
export class Upload {
  readonly #socket: Socket;
  readonly #head: RequestHead;
  readonly #body: Readable;
  readonly #owner: UploadOwner;
  #sent = 0;
  #isOver = false;
  readonly #onData = (chunk: Buffer) => this.#write(chunk);
  readonly #onEnd = () => this.#end();
  readonly #onClose = () => this.#fail(new Error('The request body was closed before its end.'));

  constructor(socket: Socket, head: RequestHead, body: Readable, owner: UploadOwner) {
    this.#socket = socket;
    this.#head = head;
    this.#body = body;
    this.#owner = owner;
  }

  /** Whether a byte of the request has been written. */
  get hasBegun(): boolean {
    return this.#sent > 0 || this.#isOver;
  }

  start(): void {
    const body = this.#body;
    body.on('data', this.#onData).on('end', this.#onEnd).on('close', this.#onClose);
    if (body.destroyed) this.#onClose();
  }

  /** The socket has written everything. */
  drained(): void {
    if (this.#isOver) return;
    this.#owner.uploadStalls(false);
    this.#body.resume();
  }

  /** The request is over: the connection is gone, or the response was complete first. */
  stop(): void {
    if (!this.#isOver) this.#leave();
  }

  #write(chunk: Buffer): void {
    if (this.#isOver || chunk.length === 0) return;
    const { text, length } = this.#head;
    if (length !== undefined && this.#sent + chunk.length > length) {
      this.#fail(new Error('The request body is longer than declared.'));
      return;
    }
    const socket = this.#socket;
    socket.cork();
    if (this.#sent === 0)
      socket.write(
        `${text}\r\n${length === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`}\r\n\r\n`,
        'latin1',
      );
    this.#sent += chunk.length;
    let more: boolean;
    if (length === undefined) {
      socket.write(`${chunk.length.toString(16)}\r\n`, 'latin1');
      socket.write(chunk);
      more = socket.write('\r\n', 'latin1');
    } else more = socket.write(chunk);
    socket.uncork();
    if (more) return;
    this.#body.pause();
    this.#owner.uploadStalls(true);
  }

  #end(): void {
    if (this.#isOver) return;
    const { text, length, expectsBody } = this.#head;
    if (length !== undefined && this.#sent !== length) {
      this.#fail(new Error('The request body is shorter than declared.'));
      return;
    }
    this.#leave();
    if (this.#sent === 0) this.#socket.write(`${text}${expectsBody ? '\r\nContent-Length: 0' : ''}\r\n\r\n`, 'latin1');
    else if (length === undefined) this.#socket.write('0\r\n\r\n', 'latin1');
    this.#owner.uploadEnded();
  }

  #fail(error: Error): void {
    if (this.#isOver) return;
    this.#leave();
    this.#owner.uploadFailed(error);
  }

  #leave(): void {
    this.#isOver = true;
    this.#body.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onClose);
  }
}

/** Writes a request whose body is in memory, all at once. */
export function writeWhole(socket: Socket, { text }: RequestHead, body: Buffer | string | null): void {
  if (body === null || body.length === 0) {
    socket.write(text, 'latin1');
    return;
  }
  socket.cork();
  socket.write(text, 'latin1');
  socket.write(body);
  socket.uncork();
}
