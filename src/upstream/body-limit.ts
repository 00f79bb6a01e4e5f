import { GatewayError } from '../errors.ts';
import { tooLarge } from '../http/body.ts';
import type { Framing } from './framing.ts';

/** The most bytes that a route takes of a request's body, and passes on of an answer's. Infinity: any number. */
export interface BodyLimits {
  readonly request: number;
  readonly response: number;
}

export const UNLIMITED: BodyLimits = { request: Number.POSITIVE_INFINITY, response: Number.POSITIVE_INFINITY };

/** What becomes of an answer beyond the limit: 502 when nothing was written yet, else the connection is cut. */
export function answerTooLarge(limit: number): GatewayError {
  return new GatewayError('upstream_invalid', {
    cause: new Error(`The upstream answered with more than ${limit} bytes.`),
  });
}

/** Throws GatewayError `payload_too_large` when a request says itself that it is, before the upstream hears of it. */
export function refuseLargeRequest(framing: Framing, limit: number): void {
  if (framing.kind === 'length' && Number(framing.length) > limit) throw tooLarge(limit);
}

/**
 * Throws GatewayError `upstream_invalid` when an answer says itself that it is too large. In: the upstream's raw fields.
 * An answer to HEAD and a 304 tell the length of a body that is not sent (RFC 9110 §8.6).
 */
export function refuseLargeAnswer(method: string, status: number, raw: readonly string[], limit: number): void {
  if (limit === Number.POSITIVE_INFINITY || method === 'HEAD' || status === 304) return;
  for (let at = 0; at + 1 < raw.length; at += 2) {
    if (raw[at]?.toLowerCase() === 'content-length' && Number(raw[at + 1]) > limit) throw answerTooLarge(limit);
  }
}

/** Counts a body while it streams. In: the size of one more piece. Out: whether the body is now beyond the limit. */
export function byteCount(limit: number): (size: number) => boolean {
  let count = 0;
  return (size) => {
    count += size;
    return count > limit;
  };
}
