import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../errors.ts';
import { mediaType, readBody } from '../http/body.ts';
import { type JsonBounds, JsonTooLarge, parseBoundedJson } from '../http/bounded-json.ts';

/** A JSON-RPC message as it came: an object, and nothing more is known of it. */
export type Message = Readonly<Record<string, unknown>>;

/** A message, or the JSON-RPC error that says why a body is none (JSON-RPC 2.0 §5.1). */
type Read = { readonly message: Message } | { readonly flaw: { readonly code: number; readonly message: string } };

/** Arguments of a tool may be long lists. */
const BOUNDS: JsonBounds = { depth: 64, values: 20_000, names: 1000 };
/**
 * Values of a message besides the arguments of a tool: the SDK matches each against every kind of message there is, which
 * takes ten times as long as parsing it. Clients send about twenty.
 */
const MOST_IN_ENVELOPE = 500;

/**
 * Reads the one message of a POST. Out: it, or why there is none. Throws GatewayError `unsupported_media_type`,
 * `payload_too_large`, or `invalid_request` when the client leaves before the end.
 * It is parsed once, here: what is judged is what runs, whatever headers say or a name given twice might mean elsewhere.
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
  // Only 2025-03-26 had batches, and no client sent them; one request that is many would pass every limit as one.
  if (Array.isArray(body)) return flaw(-32_600, 'Messages are not taken in batches: send one.');
  if (typeof body !== 'object' || body === null) return flaw(-32_600, 'A message is a JSON object.');
  const message = body as Message;
  if (envelopeOf(message) > MOST_IN_ENVELOPE)
    return flaw(-32_600, `The message has more than ${MOST_IN_ENVELOPE} values besides the arguments of a tool.`);
  return { message };
}

/** How many values a message has besides `params.arguments`; at most one more than are allowed. */
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
