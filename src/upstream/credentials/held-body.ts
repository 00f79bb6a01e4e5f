import { readBody } from '../../http/body.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { Framing } from '../framing.ts';

/** Bytes of a body that is held while it is not known whether the upstream takes the credential. */
const LARGEST = 64 * 1024;

/**
 * A request that can be sent twice. A larger body, or one of unknown length, stays a stream, which can be sent once.
 * Throws GatewayError `invalid_request` when the client leaves before the end.
 */
export async function heldBody(exchange: Exchange, framing: Framing): Promise<Exchange> {
  const { request, replacement } = exchange;
  if (replacement !== undefined || framing.kind !== 'length' || Number(framing.length) > LARGEST) return exchange;
  if (request.headers['content-encoding'] !== undefined) return exchange;
  return { ...exchange, replacement: { body: await readBody(request, LARGEST), rawHeaders: request.rawHeaders } };
}
