import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../errors.ts';

/** How a request's body is delimited (RFC 9112 §6). `length` is the Content-Length as sent. */
export type Framing =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly length: string }
  | { readonly kind: 'chunked' };

const NONE: Framing = { kind: 'none' };
const CHUNKED: Framing = { kind: 'chunked' };

/** TRACE shows a client the identity headers we added; CONNECT and TRACK have no place behind a gate. */
const NEVER_FORWARDED = new Set(['TRACE', 'TRACK', 'CONNECT']);

/**
 * Decides how a request's body goes to the upstream. It is read from the parsed message, never copied from fields that
 * a client's Connection header may name. Throws GatewayError `invalid_request` for framing that two servers may read
 * differently (a transfer coding other than chunked, one in HTTP/1.0) and `method_not_allowed` for TRACE and its kin.
 */
export function requestFraming(request: IncomingMessage): Framing {
  if (NEVER_FORWARDED.has(request.method ?? '')) {
    throw new GatewayError('method_not_allowed', {
      headers: { allow: 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS' },
    });
  }
  const { 'transfer-encoding': coding, 'content-length': length } = request.headers;
  if (coding !== undefined) {
    if (coding.trim().toLowerCase() !== 'chunked' || request.httpVersionMinor < 1) throw unclear();
    return CHUNKED;
  }
  if (length === undefined || length === '0') return NONE;
  if (!Number.isSafeInteger(Number(length))) throw unclear();
  return { kind: 'length', length };
}

function unclear(): GatewayError {
  return new GatewayError('invalid_request', {
    message: 'The request body is not delimited in a way that can be passed on.',
    headers: { connection: 'close' },
  });
}

/** Whether a request asks for a WebSocket (RFC 6455 §4.1). Other upgrades (h2c) may be ignored (RFC 9110 §7.8). */
export function asksForWebSocket(request: IncomingMessage): boolean {
  return request.headers.upgrade !== undefined && /(^|[\s,])websocket([\s,/]|$)/i.test(request.headers.upgrade);
}
