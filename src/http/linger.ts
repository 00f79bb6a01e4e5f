import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

export interface LingerOptions {
  /** Milliseconds in which nothing more comes. */
  readonly silence: number;
  /** Milliseconds in all. */
  readonly longest: number;
  /** Bytes that are read and dropped, and what comes in a moment. */
  readonly bytes: number;
}

/** What nginx waits, and what a client that sends all of its body before it reads may well have on its way. */
const LINGER: LingerOptions = { silence: 5_000, longest: 30_000, bytes: 64 * 1024 * 1024 };

/** Milliseconds between two looks at what has come. */
const LOOK_EVERY = 50;

/** Bytes of a body that are read rather than given up with the connection, which costs both sides more. */
const WORTH_READING = 64 * 1024;

/**
 * Answers that come before the end of the request's body, and reach a client that is still sending it. Such an answer is
 * the last of its connection (RFC 9110 §9.6), unless little is left to come. To close at once would not do: the kernel
 * answers what then still comes with a reset, upon which the client's kernel throws the answer away unread. So our
 * side alone is closed, and what comes is read and dropped (RFC 9112 §9.6), up to a bound; then the connection ends.
 *
 * Nothing that comes on such a connection is a request any more: see `createConnections`. In: a server before it listens.
 */
export function lingerAfterEarlyAnswers(server: Server, options: LingerOptions = LINGER): void {
  const latest = new WeakMap<Socket, IncomingMessage>();
  server.on('connection', (socket) => {
    // The one way in which node:http ends a connection of which the last answer is written.
    const { destroySoon } = socket;
    socket.destroySoon = () => {
      socket.destroySoon = destroySoon;
      const request = latest.get(socket);
      if (request === undefined || request.complete || socket.destroyed) destroySoon.call(socket);
      else linger(socket, request, options);
    };
  });
  server.prependListener('request', (request, response) => {
    if (!hasBody(request)) return;
    latest.set(request.socket, request);
    const { writeHead } = response;
    response.writeHead = (...parameters: unknown[]) => {
      if (!request.complete && !isShort(request)) response.shouldKeepAlive = false;
      return writeHead.apply(response, parameters as Parameters<typeof writeHead>);
    };
  });
}

function linger(socket: Socket, request: IncomingMessage, { silence, longest, bytes }: LingerOptions): void {
  // Whoever read it has lost interest, and may have paused it.
  request.unpipe().removeAllListeners('data').resume();
  request.on('error', () => undefined).once('end', () => socket.destroySoon());
  // Until the client has taken the answer, its pace is what bounds it.
  socket.end(() => {
    const begun = performance.now();
    const first = socket.bytesRead;
    let before = first;
    let heard = begun;
    // node:http drops what comes without a word, so that it is looked for.
    const looking = setInterval(() => {
      const now = performance.now();
      if (socket.bytesRead !== before) heard = now;
      before = socket.bytesRead;
      if (before - first > bytes || now - heard > silence || now - begun > longest) socket.destroy();
    }, LOOK_EVERY);
    socket.once('close', () => clearInterval(looking));
  });
}

/** Whether a request has a body, or will have. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
}

function isShort({ headers }: IncomingMessage): boolean {
  return Number(headers['content-length'] ?? Number.POSITIVE_INFINITY) <= WORTH_READING;
}
