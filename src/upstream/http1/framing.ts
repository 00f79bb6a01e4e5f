import { remembered } from '../../http/header-names.ts';
import { unusableResponse } from '../failures.ts';
import type { ParsedHead } from './response-head.ts';

/** undici's defaults: how long a connection is kept, and how much earlier than the upstream we give it up. */
const KEPT = 4_000;
const LONGEST_KEPT = 600_000;
const GIVEN_UP_EARLIER = 2_000;

/** What follows a response head. */
export interface ResponseFraming {
  /** Bytes of the body; CHUNKED, or UNTIL_CLOSE. */
  readonly length: number;
  /** Milliseconds for which the connection may be kept afterwards; 0: it must be closed. */
  readonly keep: number;
}

const lowerCase = remembered((name) => name.toLowerCase());

export const CHUNKED = -1;
export const UNTIL_CLOSE = -2;

/**
 * Decides how the body of a final response is delimited (RFC 9112 section 6.3) and whether another one may follow it.
 * Throws GatewayError `upstream_invalid` for every framing that two servers might read differently: a length and a
 * transfer coding, more than one of either, a coding other than chunked, or one in HTTP/1.0.
 */
export function responseFraming({ status, isOld, fields }: ParsedHead, method: string): ResponseFraming {
  let length: number | undefined;
  let coded = false;
  let closes = isOld;
  let hint: number | undefined;
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at] as string;
    const value = fields[at + 1] as string;
    // Most names have another length.
    if (name.length === 14 && lowerCase(name) === 'content-length') {
      if (length !== undefined) throw unusableResponse('two lengths');
      length = contentLength(value);
    } else if (name.length === 17 && lowerCase(name) === 'transfer-encoding') {
      if (coded || isOld || value.toLowerCase() !== 'chunked') throw unusableResponse('a transfer coding');
      coded = true;
    } else if (name.length === 10) {
      const known = lowerCase(name);
      if (known === 'connection') closes ||= /(^|,)[ \t]*close[ \t]*(,|$)/i.test(value);
      else if (known === 'keep-alive') hint = Math.min(hinted(value), hint ?? LONGEST_KEPT);
    }
  }
  if (coded && length !== undefined) throw unusableResponse('a length and a transfer coding');
  const keep = closes ? 0 : (hint ?? KEPT);
  if (status < 200) {
    // It has no body (RFC 9110 section 15.2), and the final response follows: nothing else would make sense.
    if (coded || (length ?? 0) > 0) throw unusableResponse('an interim response with a body');
    if (closes) throw unusableResponse('an interim response that is the last one');
  }
  if (method === 'HEAD') return { length: 0, keep };
  if (status < 200 || status === 204 || status === 304) {
    // There is no body, but this upstream may send one: it would be read as the next response.
    return { length: 0, keep: coded || (length ?? 0) > 0 ? 0 : keep };
  }
  if (coded) return { length: CHUNKED, keep };
  return length === undefined ? { length: UNTIL_CLOSE, keep: 0 } : { length, keep };
}

function contentLength(value: string): number {
  const length = /^[0-9]+$/.test(value) ? Number(value) : Number.NaN;
  if (!Number.isSafeInteger(length)) throw unusableResponse('an invalid length');
  return length;
}

/** The upstream closes the connection after `timeout` seconds: we must do so before. */
function hinted(value: string): number {
  const seconds = /timeout=(\d+)/.exec(value)?.[1];
  return seconds === undefined ? KEPT : Math.max(0, Number(seconds) * 1000 - GIVEN_UP_EARLIER);
}
