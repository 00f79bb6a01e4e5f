import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../errors.ts';

/** How a request's body is delimited (RFC 9112 section 6). `length` is the Content-Length without leading zeros. */
export type Framing =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly length: string }
  | { readonly kind: 'chunked' };

const NONE: Framing = { kind: 'none' };
const CHUNKED: Framing = { kind: 'chunked' };

/** TRACE would show a client the identity headers we added; CONNECT and TRACK have no use behind a gateway. */
const NEVER_FORWARDED = new Set(['TRACE', 'TRACK', 'CONNECT']);

/**
 * Decides how a request's body is sent to the upstream. It is derived from the parsed message, never copied from fields
 * that a client's Connection header may name. The request must have passed `assertClearMessage`. Throws GatewayError
 * `invalid_request` for a length that is not a safe integer, and `method_not_allowed` for TRACE, TRACK and CONNECT.
 */
export function requestFraming(request: IncomingMessage): Framing {
  if (NEVER_FORWARDED.has(request.method ?? ''))
    throw new GatewayError('method_not_allowed', {
      headers: { allow: 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS' },
    });
  const { 'transfer-encoding': coding, 'content-length': length } = request.headers;
  if (coding !== undefined) return CHUNKED;
  const bytes = Number(length ?? 0);
  if (bytes === 0) return NONE;
  if (!Number.isSafeInteger(bytes))
    throw new GatewayError('invalid_request', {
      message: 'The request body is longer than can be counted.',
      headers: { connection: 'close' },
    });
  return { kind: 'length', length: String(bytes) };
}

/**
 * Whether a request asks for a WebSocket (RFC 6455 section 4.1). Other upgrades (h2c) may be ignored (RFC 9110 section
 * 7.8).
 */
export function asksForWebSocket(request: IncomingMessage): boolean {
  return request.headers.upgrade !== undefined && /(^|[\s,])websocket([\s,/]|$)/i.test(request.headers.upgrade);
}
