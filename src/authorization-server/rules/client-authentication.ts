import { GatewayError } from '../../errors.ts';

const IN_THE_BODY =
  'client authentication goes into the body here: client_id, and client_secret for confidential clients';

/**
 * Clients authenticate with `none` or `client_secret_post` (RFC 6749 section 2.3). oidc-provider would accept Basic
 * from a client_secret_post client. Here it is `invalid_client`, with a challenge for the attempted scheme as section
 * 5.2 requires. The challenge repeats the error, because some libraries (oauth4webapi) show nothing but the challenge.
 * @param authorization - the Authorization field
 * @throws GatewayError `invalid_client`
 */
export function refuseBasic(authorization: string | undefined, realm: string): void {
  if (authorization === undefined) return;
  const scheme = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+/.exec(authorization)?.[0] ?? 'Basic';
  throw new GatewayError('invalid_client', {
    message: IN_THE_BODY,
    headers: {
      'www-authenticate': `${scheme} realm="${realm}", error="invalid_client", error_description="${IN_THE_BODY}"`,
    },
  });
}

/**
 * Introspection and revocation require a client_id (RFC 7662 section 2.1, RFC 7009 section 2.1). oidc-provider answers
 * `invalid_request` without one; RFC 6749 section 5.2 requires `invalid_client`.
 */
export function requireClient(parameters: URLSearchParams): void {
  if ((parameters.get('client_id') ?? '') !== '') return;
  throw new GatewayError('invalid_client', { message: 'client_id is required here' });
}
