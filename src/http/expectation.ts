import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/**
 * `Expect: 100-continue` (RFC 9110 §10.1.1): node:http would send 100 before anybody has looked at the request. Here
 * the request goes the way of every other, and 100 is sent when somebody begins to read its body, which is after it was
 * admitted; an answer that comes first is all the client gets. Other expectations are answered 417 by node:http.
 */
export function continueWhenRead(server: Server): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    const read = request._read;
    request._read = (size) => {
      request._read = read;
      if (!response.headersSent) response.writeContinue();
      read.call(request, size);
    };
    // A client that gets its answer instead of 100 may send the body or not: only the end of the connection is clear.
    response.shouldKeepAlive = false;
    server.emit('request', request, response);
  });
}
