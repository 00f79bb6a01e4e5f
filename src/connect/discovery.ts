import * as oauth from 'oauth4webapi';
import { ConnectError } from './connect-error.ts';
import { requireSafe, type Transport } from './transport.ts';

/**
 * The protected resource's own word (RFC 9728). In: the origin that was asked for. Out: its metadata, whose `resource`
 * is that origin. Throws what oauth4webapi throws, and ConnectError when it names no authorization server.
 */
export async function discoverResource(origin: string, http: Transport): Promise<oauth.ResourceServer> {
  const url = new URL(origin);
  return oauth.processResourceDiscoveryResponse(url, await oauth.resourceDiscoveryRequest(url, http));
}

/**
 * The authorization server that the resource names (RFC 8414). Throws what oauth4webapi throws when the document is
 * not that issuer's, and ConnectError when no server is named or PKCE with S256 is not advertised (RFC 7636 §4.2).
 */
export async function discoverServer(
  resource: oauth.ResourceServer,
  http: Transport,
): Promise<oauth.AuthorizationServer> {
  const named = resource.authorization_servers?.[0];
  const issuer = named === undefined ? null : URL.parse(named);
  if (issuer === null) {
    throw new ConnectError(
      'The protected-resource metadata names no authorization server.',
      'Its "authorization_servers" member must hold the issuer: see RFC 9728 §2.',
    );
  }
  requireSafe(issuer);
  const response = await oauth.discoveryRequest(issuer, { ...http, algorithm: 'oauth2' });
  const server = await oauth.processDiscoveryResponse(issuer, response);
  if (server.code_challenge_methods_supported?.includes('S256') !== true) {
    throw new ConnectError(
      'The authorization server does not advertise PKCE with S256.',
      'Its metadata must list S256 under "code_challenge_methods_supported"; without it a stolen code could be used.',
    );
  }
  return server;
}

/** Which of the wanted scopes the site offers. A site that lists none is taken at its silence: all are asked for. */
export function offeredScopes(
  wanted: readonly string[],
  resource: oauth.ResourceServer,
  server: oauth.AuthorizationServer,
): string[] {
  const offered = [...(server.scopes_supported ?? []), ...(resource.scopes_supported ?? [])];
  return offered.length === 0 ? [...wanted] : wanted.filter((scope) => offered.includes(scope));
}
