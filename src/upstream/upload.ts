import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { tooLarge } from '../http/body.ts';
import { ClientGone } from './failures.ts';
import type { BodyScan } from './method-override/body-scan.ts';

/**
 * A request's body as a separate stream with backpressure. The client destroys the body it is given when the upstream
 * answers early. Given an IncomingMessage, it would destroy the socket as well, on which the client still has to
 * receive a response. Here the rest of such an upload is read and dropped instead, as node:http does for any unread
 * body. Beyond `limit` bytes it fails with `payload_too_large`, so that the upstream never receives a complete body.
 * The same applies when `scan` refuses the body: its last byte, and everything from an undecided override on, is held
 * back until what follows has been checked.
 *
 * The request is not read before the upstream's side asks for it, which it does once it is connected: a client that
 * waits for 100 Continue is not asked for a body that cannot be sent on.
 */
export function uploadOf(request: IncomingMessage, limit: number, scan?: BodyScan): Readable {
  let size = 0;
  let held: Buffer = Buffer.alloc(0);
  /** Returns whether more may come immediately. */
  const pass = (chunk: Buffer): boolean => {
    if (scan === undefined) return body.push(chunk);
    try {
      scan.push(chunk);
    } catch (thrown) {
      body.destroy(thrown as Error);
      return true;
    }
    const all = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    const end = scan.undecided() ? 0 : Math.max(0, all.length - 1);
    held = all.subarray(end);
    return end === 0 || body.push(all.subarray(0, end));
  };
  const onData = (chunk: Buffer) => {
    size += chunk.length;
    if (size > limit) body.destroy(tooLarge(limit));
    else if (!pass(chunk)) request.pause();
  };
  const onEnd = () => {
    try {
      scan?.end();
    } catch (thrown) {
      body.destroy(thrown as Error);
      return;
    }
    if (held.length > 0) body.push(held);
    body.push(null);
  };
  const onGone = () => {
    if (!request.complete) body.destroy(new ClientGone());
  };
  let begun = false;
  const body = new Readable({
    read() {
      if (!begun) request.on('data', onData).on('end', onEnd);
      begun = true;
      request.resume();
    },
    destroy: (error, callback) => {
      request.off('data', onData).off('end', onEnd).off('close', onGone);
      request.resume();
      callback(error);
    },
  });
  // An aborted request emits 'error' and then 'close'. 'close' alone would be enough, but 'error' must have a listener.
  request.on('close', onGone).on('error', onGone);
  // The body needs a listener too: if its upstream is at its limit, or its breaker is open, nothing ever reads it, and a
  // client that leaves while it is refused would end the process.
  body.on('error', () => undefined);
  return body;
}
