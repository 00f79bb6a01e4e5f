import type { GatewayError } from '../errors.ts';
import { tooLarge } from '../http/body.ts';
import { fieldValues } from '../http/field-values.ts';
import { unusableResponse } from './failures.ts';
import type { Framing } from './framing.ts';

/**
 * A route's limits in bytes: for request bodies it accepts and response bodies it passes on. Infinity means no limit.
 */
export interface BodyLimits {
  readonly request: number;
  readonly response: number;
}

export const UNLIMITED: BodyLimits = { request: Number.POSITIVE_INFINITY, response: Number.POSITIVE_INFINITY };

/** The error for a response over the limit: a 502 if nothing has been written yet, otherwise the connection is cut. */
export function answerTooLarge(limit: number): GatewayError {
  return unusableResponse(`more than ${limit} bytes`);
}

/**
 * Throws GatewayError `payload_too_large`, before the upstream is contacted, if the Content-Length is over the limit.
 */
export function refuseLargeRequest(framing: Framing, limit: number): void {
  if (framing.kind === 'length' && Number(framing.length) > limit) throw tooLarge(limit);
}

/**
 * Throws GatewayError `upstream_invalid` if the Content-Length of the response is over the limit. In a response to HEAD
 * and in a 304, Content-Length describes a body that is not sent (RFC 9110 section 8.6).
 * @param raw the upstream's raw header fields
 */
export function refuseLargeAnswer(method: string, status: number, raw: readonly string[], limit: number): void {
  if (limit === Number.POSITIVE_INFINITY || method === 'HEAD' || status === 304) return;
  if (fieldValues(raw, 'content-length').some((length) => Number(length) > limit)) throw answerTooLarge(limit);
}
