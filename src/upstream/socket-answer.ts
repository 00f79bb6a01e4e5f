import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * An ordinary response on a socket that node:http handed over for an upgrade, so that node:http frames a refusal, or an
 * upstream's response that is not an upgrade, like any other. The connection is closed afterwards: whatever follows the
 * request on that socket was never parsed.
 */
export function answerOn(request: IncomingMessage, socket: Duplex): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Socket);
  // The server no longer manages this socket, so its 'drain' events must be passed on here.
  socket.on('drain', () => response.emit('drain'));
  // Closes both directions: a client that does not close its side would keep the socket open forever.
  response.on('finish', () => (socket as Socket).destroySoon());
  return response;
}
