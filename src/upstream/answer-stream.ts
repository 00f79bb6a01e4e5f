import type { ServerResponse } from 'node:http';
import { fieldValues } from '../http/field-values.ts';

/**
 * Aborts a response that has begun and cannot be finished, so that no client takes it for complete: the connection is
 * closed without the last chunk or the missing bytes. A head that has not left yet is sent first, so that the client
 * knows which response was cut off. Waits for the next turn of the event loop, because bytes already written sit in a
 * corked socket until this turn ends.
 */
export function cutOff(response: ServerResponse): void {
  if (response.headersSent) response.flushHeaders();
  setImmediate(() => {
    resetUnframed(response);
    response.destroy();
  });
}

/** For HTTP/1.0 closing the connection marks the end of a body; only a reset shows that something is missing. */
function resetUnframed(response: ServerResponse): void {
  if (response.req.httpVersionMinor < 1) response.socket?.resetAndDestroy();
}

/** Whether the header fields announce an event stream (WHATWG HTML section 9.2), on which silence is not a failure. */
export function isEventStream(raw: readonly string[]): boolean {
  return /^\s*text\/event-stream\b/i.test(fieldValues(raw, 'content-type')[0] ?? '');
}

/** Event stream responses without a Content-Length: ending one cannot make a truncated response look complete. */
const openEventStreams = new WeakSet<ServerResponse>();

/**
 * Records whether a response is an event stream without a Content-Length. This cannot be read from the response later:
 * Node does not keep fields that were set as an array.
 */
export function noteEventStream(response: ServerResponse, raw: readonly string[]): void {
  if (fieldValues(raw, 'content-length').length === 0) openEventStreams.add(response);
}

/**
 * Ends a response early. An event stream has no defined end: when it is closed cleanly, its client reconnects and drops
 * an event that was cut in half (WHATWG HTML section 9.2.6). Nothing is written first, not even a comment: its line
 * feeds would complete that event. Every other response is cut off, so that it does not look complete.
 */
export function endAnswer(answer: ServerResponse): void {
  if (!answer.headersSent || !openEventStreams.has(answer)) {
    cutOff(answer);
    return;
  }
  // The source of the stream does not know that it was ended, and keeps writing.
  answer.on('error', () => undefined);
  answer.end(() => answer.socket?.end());
}
