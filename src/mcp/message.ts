import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../errors.ts';
import { mediaType, readBody } from '../http/body.ts';

/** A JSON-RPC message as it came: an object, and nothing more is known of it. */
export type Message = Readonly<Record<string, unknown>>;

/** A message, or the JSON-RPC error that says why a body is none (JSON-RPC 2.0 §5.1). */
type Read = { readonly message: Message } | { readonly flaw: { readonly code: number; readonly message: string } };

const DEEPEST = 64;

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
    if (isTooDeep(text)) return flaw(-32_600, 'The message is nested too deeply.');
    body = JSON.parse(text);
  } catch {
    return flaw(-32_700, 'The request body is not JSON.');
  }
  // Only 2025-03-26 had batches, and no client sent them; one request that is many would pass every limit as one.
  if (Array.isArray(body)) return flaw(-32_600, 'Messages are not taken in batches: send one.');
  if (typeof body !== 'object' || body === null) return flaw(-32_600, 'A message is a JSON object.');
  return { message: body as Message };
}

function flaw(code: number, message: string): Read {
  return { flaw: { code, message } };
}

/** Looked at before parsing, since everything that walks a value walks it as deep as it is. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (quoted) {
      if (code === 0x5c) at += 1;
      else if (code === 0x22) quoted = false;
    } else if (code === 0x22) quoted = true;
    else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > DEEPEST) return true;
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
  return false;
}
