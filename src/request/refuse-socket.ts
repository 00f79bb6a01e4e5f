import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Connections } from '../http/connections.ts';
import { unreadableStatus } from '../http/unreadable.ts';

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
