import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Bytes up to which copying a chunk costs less than writing its framing separately. */
const WORTH_COPYING = 16 * 1024;
/** Sockets that are corked at the same time, so that the first of many events does not wait for the last. */
const MOST_CORKED = 64;
const CRLF = 0x0d0a;

/**
 * Writes a part of a response's body, like `response.write`. The head must have been flushed. node:http passes each
 * chunk to the socket in four pieces; a short one is framed here (RFC 9112 section 7.1) and passed on in one. Chunks
 * that are written in the same iteration of the event loop leave in one system call for each socket.
 * @param release called when the memory of the chunk is no longer used
 */
export function writeChunk(response: ServerResponse, chunk: Uint8Array, release?: () => void): boolean {
  const { socket } = response;
  if (socket === null || !mayFrame(response, socket, chunk.length)) return response.write(chunk, release);
  if (socket.writableCorked === 0) cork(socket);
  const bytes = framed(chunk);
  release?.();
  return socket.write(bytes);
}

/**
 * Whether a chunk may go directly to the socket: the response is chunked and has not ended, nothing of it is buffered
 * elsewhere, and the chunk cannot fill the socket's buffer, since backpressure is left to node:http. An empty chunk
 * would end the body.
 */
function mayFrame(response: ServerResponse, socket: Socket, size: number): boolean {
  return (
    response.chunkedEncoding &&
    response.req.method !== 'HEAD' &&
    !response.writableEnded &&
    socket.writable &&
    response.writableLength === socket.writableLength &&
    size > 0 &&
    size <= WORTH_COPYING &&
    socket.writableLength + 2 * WORTH_COPYING < socket.writableHighWaterMark
  );
}

function framed(chunk: Uint8Array): Buffer {
  const size = chunk.length.toString(16);
  const bytes = Buffer.allocUnsafe(size.length + chunk.length + 4);
  let at = bytes.write(size, 'latin1');
  at = bytes.writeUInt16BE(CRLF, at);
  bytes.set(chunk, at);
  bytes.writeUInt16BE(CRLF, at + chunk.length);
  return bytes;
}

const corked: Socket[] = [];

/** Holds back what is written to a socket, at most until the end of this iteration of the event loop. */
function cork(socket: Socket): void {
  socket.cork();
  const count = corked.push(socket);
  if (count === 1) setImmediate(uncorkAll);
  else if (count === MOST_CORKED) uncorkAll();
}

function uncorkAll(): void {
  for (const socket of corked) socket.uncork();
  corked.length = 0;
}
