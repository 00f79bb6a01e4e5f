import type { ServerResponse } from 'node:http';

/**
 * Ends an answer that has begun and cannot be finished, so that no client takes it for whole: the connection is closed
 * without the last chunk or the missing bytes. What was already written is let out first: it waits in a corked socket
 * until the turn ends.
 */
export function cutOff(response: ServerResponse): void {
  setImmediate(() => {
    resetUnframed(response);
    response.destroy();
  });
}

/** To HTTP/1.0 the close of the connection is itself the end of a body; only a reset says that something is missing. */
export function resetUnframed(response: ServerResponse): void {
  if (response.req.httpVersionMinor < 1) response.socket?.resetAndDestroy();
}

/** Sends the head even if the body is slow to come; when it comes at once, both still leave in one packet. */
export function flushSoon(response: ServerResponse): void {
  setImmediate(() => {
    if (!response.writableEnded && !response.destroyed) response.flushHeaders();
  });
}

/** Whether fields announce an event stream (WHATWG HTML §9.2): its silence is no failure. */
export function isEventStream(raw: readonly string[]): boolean {
  for (let at = 0; at + 1 < raw.length; at += 2) {
    if (raw[at]?.toLowerCase() === 'content-type') return /^\s*text\/event-stream\b/i.test(raw[at + 1] ?? '');
  }
  return false;
}

/** Answers that are event streams without a length of their own. */
const openEventStreams = new WeakSet<ServerResponse>();

/** Notes what an answer is. Its fields are not looked at later: Node does not keep those that it was given as a list. */
export function noteEventStream(response: ServerResponse, raw: readonly string[]): void {
  for (let at = 0; at + 1 < raw.length; at += 2) if (raw[at]?.toLowerCase() === 'content-length') return;
  openEventStreams.add(response);
}

/** Whether the answer has no end of its own, so that ending it makes nothing look whole that is not. */
function isOpenEventStream(response: ServerResponse): boolean {
  return openEventStreams.has(response);
}

/**
 * Ends an answer before its time. An event stream has no end: closed cleanly, its client reconnects and drops an event
 * that was cut in half (WHATWG HTML section 9.2.6). Nothing is written first, not even a comment: its line feeds would
 * complete that event. Every other answer is cut off, so that it does not look complete.
 */
export function endAnswer(answer: ServerResponse): void {
  if (!answer.headersSent || !isOpenEventStream(answer)) {
    cutOff(answer);
    return;
  }
  // Its source does not know, and goes on writing.
  answer.on('error', () => undefined);
  answer.end(() => answer.socket?.end());
}
