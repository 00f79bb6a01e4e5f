import * as oauth from 'oauth4webapi';
import { ConnectError } from '../connect-error.ts';
import { requireSafe, type Transport } from './transport.ts';

export type { AuthorizationServer, ResourceServer } from 'oauth4webapi';

/**
 * Fetches the protected resource metadata (RFC 9728) of `origin`. Throws oauth4webapi's errors, for example when the
 * `resource` member differs from `origin`.
 */
export async function discoverResource(origin: string, http: Transport): Promise<oauth.ResourceServer> {
  const url = new URL(origin);
  return oauth.processResourceDiscoveryResponse(url, await oauth.resourceDiscoveryRequest(url, http));
}

/**
 * Fetches the metadata of the resource's first authorization server (RFC 8414). Throws oauth4webapi's errors when the
 * issuer differs, and ConnectError when no server is listed or PKCE with S256 is not advertised (RFC 7636 section 4.2).
 */
export async function discoverServer(
  resource: oauth.ResourceServer,
  http: Transport,
): Promise<oauth.AuthorizationServer> {
  const issuer = URL.parse(resource.authorization_servers?.[0] ?? '');
  if (issuer === null)
    throw new ConnectError(
      'The protected-resource metadata names no authorization server.',
      'Its "authorization_servers" member must hold the issuer: see RFC 9728 section 2.',
    );
  requireSafe(issuer);
  const response = await oauth.discoveryRequest(issuer, { ...http, algorithm: 'oauth2' });
  const server = await oauth.processDiscoveryResponse(issuer, response);
  if (server.code_challenge_methods_supported?.includes('S256') !== true)
    throw new ConnectError(
      'The authorization server does not advertise PKCE with S256.',
      'Its metadata must list S256 under "code_challenge_methods_supported"; without it a stolen code could be used.',
    );
  return server;
}
