import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

export interface LingerOptions {
  /** Milliseconds without incoming data after which the connection is closed. */
  readonly silence: number;
  /** Maximum duration in milliseconds. */
  readonly longest: number;
  /** Maximum number of bytes to read and drop; checked at intervals, so somewhat more may arrive. */
  readonly bytes: number;
}

/**
 * The times are nginx's defaults. The bytes are what a client that sends its whole body before it reads may have in
 * transit.
 */
const LINGER: LingerOptions = { silence: 5_000, longest: 30_000, bytes: 64 * 1024 * 1024 };

/** Milliseconds between two checks for incoming data. */
const LOOK_EVERY = 50;

/** A body up to this size in bytes is read to its end, because closing the connection costs both sides more. */
const WORTH_READING = 64 * 1024;

/** Stored on the socket itself: entries of a WeakMap would cost garbage collection work for every request. */
const LATEST = Symbol('the latest request with a body');

type Connection = Socket & { [LATEST]?: IncomingMessage };

/**
 * Makes responses that are sent before the end of the request's body reach a client that is still sending it. Such a
 * response is the last one on its connection (RFC 9110 section 9.6), unless little is left to read. Closing immediately
 * would lose it: the kernel answers data that still arrives with a reset, on which the client's kernel discards the
 * unread response. So only our side is closed, and incoming data is read and dropped (RFC 9112 section 9.6), up to a
 * limit. Then the connection is closed.
 *
 * Nothing that arrives on such a connection is treated as a request: see `createConnections`. Must be called before the
 * server listens.
 */
export function lingerAfterEarlyAnswers(server: Server, options: LingerOptions = LINGER): void {
  server.on('connection', (socket: Connection) => {
    // node:http always closes a connection this way after its last response was written.
    const { destroySoon } = socket;
    socket.destroySoon = () => {
      socket.destroySoon = destroySoon;
      const request = socket[LATEST];
      if (request === undefined || request.complete || socket.destroyed) destroySoon.call(socket);
      else linger(socket, request, options);
    };
  });
  server.prependListener('request', (request, response) => {
    if (!hasBody(request)) return;
    (request.socket as Connection)[LATEST] = request;
    const { writeHead } = response;
    response.writeHead = (...parameters: unknown[]) => {
      if (!request.complete && !isShort(request)) response.shouldKeepAlive = false;
      return writeHead.apply(response, parameters as Parameters<typeof writeHead>);
    };
  });
}

function linger(socket: Socket, request: IncomingMessage, { silence, longest, bytes }: LingerOptions): void {
  // The previous reader is done, and may have paused the request.
  request.unpipe().removeAllListeners('data').resume();
  request.on('error', () => undefined).once('end', () => socket.destroySoon());
  // Until the client has received the response, only `keepPace` limits how long it takes.
  socket.end(() => {
    const begun = performance.now();
    const first = socket.bytesRead;
    let before = first;
    let heard = begun;
    // node:http drops incoming data without an event, so it has to be polled.
    const looking = setInterval(() => {
      const now = performance.now();
      if (socket.bytesRead !== before) heard = now;
      before = socket.bytesRead;
      if (before - first > bytes || now - heard > silence || now - begun > longest) socket.destroy();
    }, LOOK_EVERY);
    socket.once('close', () => clearInterval(looking));
  });
}

/** Whether a request has a body, even if it has not arrived yet. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
}

function isShort({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? Number.POSITIVE_INFINITY) <= WORTH_READING;
}
