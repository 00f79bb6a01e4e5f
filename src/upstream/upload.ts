import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { tooLarge } from '../http/body.ts';
import { byteCount } from './body-limit.ts';
import { ClientGone } from './failures.ts';

/**
 * A request's body as a stream of its own, with backpressure. undici destroys the body it is given when the upstream
 * answers early, and takes the socket from an IncomingMessage as it does so; that socket still owes the client an
 * answer. Here the rest of such an upload is read and dropped instead, as node:http does for any unread body.
 * Beyond `limit` bytes it fails with `payload_too_large`, so that the upstream never sees its end.
 *
 * Nothing is read of the request before the upstream's side asks for it, which it does once it is connected: a client
 * that waits for 100 Continue is not asked for a body that nobody can take.
 */
export function uploadOf(request: IncomingMessage, limit: number): Readable {
  const isTooLarge = byteCount(limit);
  const onData = (chunk: Buffer) => {
    if (isTooLarge(chunk.length)) body.destroy(tooLarge(limit));
    else if (!body.push(chunk)) request.pause();
  };
  const onEnd = () => body.push(null);
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
  // An aborted request emits 'error' and then 'close'; the second alone is enough, the first must have a listener.
  request.on('close', onGone).on('error', onGone);
  return body;
}

/** A body that is there already. */
export function wholeBody(bytes: Buffer): Readable {
  return Readable.from([bytes], { objectMode: false });
}
