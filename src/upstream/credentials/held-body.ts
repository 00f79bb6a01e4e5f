import { readBody } from '../../http/body.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { Framing } from '../framing.ts';

/** Largest body, in bytes, that is buffered until it is known whether the upstream accepts the credential. */
const LARGEST = 64 * 1024;

/**
 * Buffers a request's body so that it can be sent twice. A larger body, or one of unknown length, remains a stream,
 * which can be sent only once.
 * Throws GatewayError `invalid_request` if the client disconnects before the end.
 */
export async function heldBody(exchange: Exchange, framing: Framing): Promise<Exchange> {
  const { request, replacement } = exchange;
  if (replacement !== undefined || framing.kind !== 'length' || Number(framing.length) > LARGEST) return exchange;
  if (request.headers['content-encoding'] !== undefined) return exchange;
  return { ...exchange, replacement: { body: await readBody(request, LARGEST), rawHeaders: request.rawHeaders } };
}
