import { GatewayError } from '../../errors.ts';
import { fieldValues } from '../../http/field-values.ts';
import { decodedComponent } from '../../http/percent.ts';

const HOW = 'authenticate with client_id and client_secret in the body, or with both in HTTP Basic, form-encoded';

/** A client that is named in an Authorization field. */
export interface BasicClient {
  readonly clientId: string;
  /** Without a secret it is a public client, which only says who it is. */
  readonly hasSecret: boolean;
}

/**
 * The client in an Authorization field: Basic, with the form-encoded client_id and secret (RFC 6749 section 2.3.1).
 * oidc-provider compares the secret.
 * @param raw - alternating names and values of all fields
 * @returns undefined without the field
 * @throws GatewayError `invalid_client` if it is anything else, with a challenge for the attempted scheme (section 5.2),
 *   which repeats the error, because some libraries (oauth4webapi) show nothing but the challenge
 */
export function basicClient(raw: readonly string[], realm: string): BasicClient | undefined {
  const values = fieldValues(raw, 'authorization');
  if (values.length === 0) return undefined;
  const field = values.join(', ');
  const [, encoded = ''] = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(field) ?? [];
  const parts = /^([^:]+):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString());
  const [clientId = '', secret] = parts?.slice(1).map(formDecoded) ?? [];
  if (clientId !== '' && secret !== undefined) return { clientId, hasSecret: secret !== '' };
  const scheme = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+/.exec(field)?.[0] ?? 'Basic';
  throw new GatewayError('invalid_client', {
    message: HOW,
    headers: { 'www-authenticate': `${scheme} realm="${realm}", error="invalid_client", error_description="${HOW}"` },
  });
}

/** Undefined if it is not form-encoded, or has characters that no client_id and secret has (RFC 6749 appendix A.1). */
function formDecoded(text: string): string | undefined {
  const decoded = decodedComponent(text.replaceAll('+', ' '));
  return decoded !== undefined && /^[\x20-\x7E]*$/.test(decoded) ? decoded : undefined;
}

/**
 * Adds the client in the Authorization field to the parameters. Throws GatewayError `invalid_request` if the body names
 * another client, or has a secret as well: one request authenticates in one way (RFC 6749 section 2.3).
 */
export function addClient(parameters: URLSearchParams, { clientId }: BasicClient): void {
  if (parameters.getAll('client_secret').some((secret) => secret !== ''))
    throw new GatewayError('invalid_request', { message: 'client_secret and HTTP Basic were both sent: send one' });
  const named = parameters.getAll('client_id').filter((id) => id !== '');
  if (named.some((id) => id !== clientId))
    throw new GatewayError('invalid_request', { message: 'client_id differs between the body and HTTP Basic' });
  if (named.length === 0) parameters.set('client_id', clientId);
}

/**
 * Introspection and revocation require a client_id (RFC 7662 section 2.1, RFC 7009 section 2.1). oidc-provider answers
 * `invalid_request` without one; RFC 6749 section 5.2 requires `invalid_client`.
 */
export function requireClient(parameters: URLSearchParams): void {
  if ((parameters.get('client_id') ?? '') !== '') return;
  throw new GatewayError('invalid_client', { message: 'client_id is required here' });
}
