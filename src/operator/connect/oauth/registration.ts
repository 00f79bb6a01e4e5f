import * as oauth from 'oauth4webapi';
import type { Transport } from './transport.ts';

/** A client that is registered at the authorization server of a protected resource. */
export interface RegisteredClient {
  /** What every request to the authorization server starts with. */
  readonly at: readonly [oauth.AuthorizationServer, oauth.Client, oauth.ClientAuth];
  /** The protected resource that tokens are requested for (RFC 8707). */
  readonly resource: string;
}

/** Client metadata (RFC 7591 section 2). */
export interface ClientDescription {
  readonly name: string;
  readonly redirectUri: string;
}

/** Registers a public client (RFC 7591). Throws oauth4webapi's errors. */
export async function register(
  server: oauth.AuthorizationServer,
  { resource }: oauth.ResourceServer,
  { name, redirectUri }: ClientDescription,
  http: Transport,
): Promise<RegisteredClient> {
  const metadata = {
    client_name: name,
    // A native app may use a loopback redirect with any port (RFC 8252 section 7.3).
    application_type: 'native',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  const answer = await oauth.dynamicClientRegistrationRequest(server, metadata, http);
  const client = await oauth.processDynamicClientRegistrationResponse(answer);
  return { at: [server, client, oauth.None()], resource };
}

/**
 * Deletes a registration if the server supports it (RFC 7592 section 2.3). Returns false if it was not deleted: the
 * server gave no registration_client_uri, or one at another origin, which must not see the registration token.
 */
export async function unregister({ at: [server, client] }: RegisteredClient, http: Transport): Promise<boolean> {
  const { registration_client_uri: uri, registration_access_token: token } = client;
  const url = typeof uri === 'string' ? URL.parse(uri) : null;
  if (url === null || typeof token !== 'string' || url.origin !== new URL(server.issuer).origin) return false;
  const response = await oauth.protectedResourceRequest(token, 'DELETE', url, undefined, undefined, http);
  await response.body?.cancel();
  return response.status === 204;
}
