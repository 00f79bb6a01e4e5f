import { GatewayError } from '../../errors.ts';
import { parseClientMetadata } from '../registration/body.ts';
import { normalizeClientMetadata } from '../rules/client-metadata.ts';
import { DocumentFailure } from './failure.ts';

export type ClientDocument = Readonly<Record<string, unknown>>;

/**
 * Reads the document found at `url`, by the rules for registration bodies and those of the draft (section 4.1): it must
 * name its own URL and contain no secret, since everyone can read it. Throws DocumentFailure `unusable`.
 */
export function readDocument(url: string, bytes: Buffer): ClientDocument {
  const document = parse(bytes);
  if (document.client_id !== url) throw unusable('names another client_id: it must be the URL of the document');
  const secret = Object.keys(document).find((name) => name.startsWith('client_secret'));
  if (secret !== undefined) throw unusable('contains a client_secret member, which everyone could read');
  const method = document.token_endpoint_auth_method;
  if (typeof method === 'string' && method.startsWith('client_secret'))
    throw unusable('has a token_endpoint_auth_method with a client secret: it must be none');
  return document;
}

/**
 * Converts a document to registration metadata for a public client. A document that prefers `private_key_jwt` but also
 * accepts `none`, as ChatGPT's does, becomes `none`, the method we support. Throws DocumentFailure `refused`.
 */
export function metadataOf(document: ClientDocument, scope: string): Record<string, unknown> {
  const { token_endpoint_auth_method: preferred, token_endpoint_auth_methods_supported: supported } = document;
  const methods = [preferred, supported].flat().filter((method) => method !== undefined && method !== null);
  if (methods.length > 0 && !methods.includes('none'))
    throw new DocumentFailure(
      'refused',
      'a client metadata document describes a public client here: token_endpoint_auth_method must be none, or token_endpoint_auth_methods_supported must list none',
    );
  return normalizeClientMetadata({ ...document, token_endpoint_auth_method: 'none' }, scope);
}

function parse(bytes: Buffer): Record<string, unknown> {
  try {
    return parseClientMetadata(bytes);
  } catch (thrown) {
    if (thrown instanceof GatewayError)
      throw unusable('is not a JSON object of client metadata, in UTF-8 and without repeated members', thrown);
    throw thrown;
  }
}

function unusable(message: string, cause?: unknown): DocumentFailure {
  return new DocumentFailure('unusable', message, cause);
}
