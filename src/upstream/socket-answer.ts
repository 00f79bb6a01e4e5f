import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * An ordinary response on a socket that node:http handed over for an upgrade, so that a refusal, or an upstream's
 * answer that is no upgrade, is framed by node:http like any other. The connection is closed after it: what follows
 * the request on that socket was never parsed.
 */
export function answerOn(request: IncomingMessage, socket: Duplex): ServerResponse {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Socket);
  // The server has let go of this socket, so nobody else passes its 'drain' on.
  socket.on('drain', () => response.emit('drain'));
  // Both ways: a client that does not close its side would keep the socket for good.
  response.on('finish', () => (socket as Socket).destroySoon());
  return response;
}
