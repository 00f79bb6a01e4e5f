import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../errors.ts';
import { sizeText } from './amounts.ts';

/**
 * Reads a whole request body of at most `limit` bytes.
 * Throws GatewayError `payload_too_large` (the connection is then closed after the response), `unsupported_media_type`
 * if the body is compressed, or `invalid_request` if the client disconnects before the end.
 */
export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    throw new GatewayError('unsupported_media_type', { message: 'Compressed request bodies are not accepted here.' });
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    // The request is not destroyed on an early exit: the client still has to receive a response on its connection.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      length += (chunk as Buffer).length;
      if (length > limit) throw tooLarge(limit);
      chunks.push(chunk as Buffer);
    }
  } catch (thrown) {
    if (thrown instanceof GatewayError) throw thrown;
    throw new GatewayError('invalid_request', { message: 'The request body is incomplete.', cause: thrown });
  }
  return Buffer.concat(chunks);
}

/** The error for a body over the limit. The rest of the body is not worth reading, so the connection is closed. */
export function tooLarge(limit: number): GatewayError {
  return new GatewayError('payload_too_large', {
    message: `The request body is too large: at most ${sizeText(limit)} are accepted here.`,
    headers: { connection: 'close' },
  });
}

/**
 * The media type of a Content-Type value, without parameters, in lower case; '' if there is none (RFC 9110 section
 * 8.3).
 */
export function mediaType(contentType: string | undefined): string {
  return (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** Whether a Content-Type value announces JSON in UTF-8: with another charset, others would read a different text. */
export function isUtf8Json(contentType: string): boolean {
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(contentType)?.[1] ?? 'utf-8';
  return /^application\/([\w.-]+\+)?json$/.test(mediaType(contentType)) && /^utf-?8$/i.test(charset);
}

/** The text of a body (for JSON, RFC 8259 section 8.1). Returns '', which is not JSON, for bytes that are not UTF-8. */
export function utf8Text(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return '';
  }
}

/** The text of bytes in UTF-8, as they are; undefined for other bytes. */
export function exactText(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
