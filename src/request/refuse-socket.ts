import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Connections } from '../http/connections.ts';

/** The responses to error codes of Node's parser. Any other parser error is a 400. */
const ANSWERS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Content Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/**
 * Answers on a socket that node:http has handed over, and closes it, because the client might never close its side.
 */
export function refuseOn(socket: Duplex, status: string, fields = ''): void {
  socket.end(`HTTP/1.1 ${status}\r\n${fields}Connection: close\r\nContent-Length: 0\r\n\r\n`);
  (socket as Socket).destroySoon();
}

/** CONNECT is always refused: the gate is not a forward proxy. */
export function refuseConnect(connections: Connections, request: IncomingMessage, socket: Duplex): void {
  socket.on('error', () => socket.destroy());
  try {
    if (connections.admitUpgrade(request)) refuseOn(socket, '405 Method Not Allowed', 'Allow: GET, HEAD, POST\r\n');
    else socket.destroy();
  } catch {
    refuseOn(socket, '400 Bad Request');
  }
}

/** Refuses requests that node:http could not parse, or that timed out, and closes the connection. */
export function refuseUnreadable(connections: Connections, error: NodeJS.ErrnoException, socket: Duplex): void {
  const status = unreadableStatus(error);
  if (status === undefined || !socket.writable || !connections.mayRefuse(socket)) socket.destroy();
  else refuseOn(socket, status);
}

/**
 * The status line for bytes that are not a request, or did not become one in time, from the error of node:http's
 * `clientError` event. Returns undefined if the connection itself failed, so that there is no client to respond to.
 */
function unreadableStatus(error: NodeJS.ErrnoException): string | undefined {
  const code = error.code ?? '';
  return ANSWERS[code] ?? (code.startsWith('HPE_') ? '400 Bad Request' : undefined);
}
