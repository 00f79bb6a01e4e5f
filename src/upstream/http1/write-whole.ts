import type { Socket } from 'node:net';
import type { RequestHead } from './request-head.ts';

/** Writes a request whose body is in memory, all at once. Throws TypeError if its Content-Length is another. */
export function writeWhole(socket: Socket, head: RequestHead, body: Buffer | string | null): void {
  const length = body === null ? 0 : Buffer.byteLength(body);
  if (head.length !== undefined && head.length !== length) throw new TypeError('The length is wrong.');
  const framing = head.expectsBody || length > 0 ? `Content-Length: ${length}\r\n\r\n` : '\r\n';
  if (body === null || length === 0) {
    socket.write(head.text + framing, 'latin1');
    return;
  }
  socket.cork();
  socket.write(head.text + framing, 'latin1');
  socket.write(body);
  socket.uncork();
}
