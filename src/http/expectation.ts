import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/**
 * `Expect: 100-continue` (RFC 9110 section 10.1.1): by default node:http sends 100 before the request is checked. Here
 * the request is handled like any other, and 100 is sent when its body is first read, which is after it was admitted.
 * If a response comes first, the client receives only that. Other expectations get 417, where the listeners are opened.
 */
export function continueWhenRead(server: Server): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    const read = request._read;
    request._read = (size) => {
      request._read = read;
      if (!response.headersSent) response.writeContinue();
      read.call(request, size);
    };
    // A client that receives a final response instead of 100 may or may not send the body. Only closing the connection
    // is unambiguous.
    response.shouldKeepAlive = false;
    server.emit('request', request, response);
  });
}
