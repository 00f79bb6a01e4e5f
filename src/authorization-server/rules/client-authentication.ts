import { GatewayError } from '../../errors.ts';

/**
 * RFC 6749 §2.3: clients authenticate by `none` or `client_secret_post`. oidc-provider would take Basic from a
 * client_secret_post client; here it is `invalid_client`, and names the scheme tried, as §5.2 asks.
 * In: the Authorization field, and the origin as realm. Throws GatewayError `invalid_client`.
 */
export function refuseBasic(authorization: string | undefined, realm: string): void {
  if (authorization === undefined) return;
  const scheme = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+/.exec(authorization)?.[0] ?? 'Basic';
  throw new GatewayError('invalid_client', {
    message: 'client authentication goes into the body here: client_id, and client_secret for confidential clients',
    headers: { 'www-authenticate': `${scheme} realm="${realm}"` },
  });
}

/**
 * RFC 7662 §2.1, RFC 7009 §2.1: nobody introspects or revokes without saying who they are. oidc-provider calls that
 * `invalid_request`; RFC 6749 §5.2 has `invalid_client` for it.
 */
export function requireClient(parameters: URLSearchParams): void {
  if ((parameters.get('client_id') ?? '') !== '') return;
  throw new GatewayError('invalid_client', { message: 'client_id is required here' });
}
