import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../errors.ts';
import { mediaType, readBody } from '../http/body.ts';
import { type JsonBounds, JsonTooLarge, parseBoundedJson } from '../http/bounded-json.ts';
import { isObject } from '../http/json-object.ts';

/** A JSON-RPC message as received. It is only known to be an object. */
export type Message = Readonly<Record<string, unknown>>;

/** A message, or the JSON-RPC error if the body is not one (JSON-RPC 2.0 section 5.1). */
type Read = { readonly message: Message } | { readonly flaw: { readonly code: number; readonly message: string } };

/** Limits for the whole message. Arguments of tools may be long lists. */
const BOUNDS: JsonBounds = { depth: 64, values: 20_000, names: 1000 };
/**
 * Values allowed in a message, not counting a tool's arguments. The SDK matches each against every message type, which
 * takes ten times as long as parsing. Clients send about twenty.
 */
const MOST_IN_ENVELOPE = 500;

/**
 * Reads the single message of a POST, or returns the error in it. Throws GatewayError `unsupported_media_type`,
 * `payload_too_large`, or `invalid_request` if the client disconnects before the end.
 * The message is parsed only here, so that what is checked is what is run, even if header fields contradict it or a
 * name occurs twice.
 */
export async function readMessage(request: IncomingMessage, limit: number): Promise<Read> {
  if (mediaType(request.headers['content-type']) !== 'application/json') {
    throw new GatewayError('unsupported_media_type', { message: 'The request body must be application/json.' });
  }
  const bytes = await readBody(request, limit);
  let body: unknown;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    body = parseBoundedJson(text, BOUNDS);
  } catch (thrown) {
    if (thrown instanceof JsonTooLarge) return flaw(-32_600, `The message ${thrown.message}.`);
    return flaw(-32_700, 'The request body is not JSON.');
  }
  // Only revision 2025-03-26 had batches, and no client sent them. A batch would count as one request for every limit.
  if (Array.isArray(body)) return flaw(-32_600, 'Batches are not accepted: send one message.');
  if (!isObject(body)) return flaw(-32_600, 'A message is a JSON object.');
  const message: Message = body;
  if (envelopeOf(message) > MOST_IN_ENVELOPE)
    return flaw(-32_600, `The message has more than ${MOST_IN_ENVELOPE} values besides the arguments of a tool.`);
  return { message };
}

/** Number of values outside of `params.arguments`, counted up to one more than allowed. */
function envelopeOf(message: Message): number {
  const { params } = message;
  const isCall = typeof params === 'object' && params !== null && message.method === 'tools/call';
  const args = isCall ? (params as Message).arguments : undefined;
  const open: object[] = [message];
  let values = 0;
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    for (const item of Object.values(one)) {
      values += 1;
      if (values > MOST_IN_ENVELOPE) return values;
      if (typeof item === 'object' && item !== null && item !== args) open.push(item);
    }
  }
  return values;
}

function flaw(code: number, message: string): Read {
  return { flaw: { code, message } };
}
