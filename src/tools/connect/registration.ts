import * as oauth from 'oauth4webapi';
import type { Transport } from './transport.ts';

/** A registered client and how it authenticates at the token endpoint. */
export interface Registration {
  readonly client: oauth.Client;
  readonly authentication: oauth.ClientAuth;
}

/** Client metadata (RFC 7591 section 2). */
export interface ClientDescription {
  readonly name: string;
  readonly redirectUri: string;
  /** Public clients have no secret; confidential ones send theirs in the body (`client_secret_post`). */
  readonly type: 'public' | 'confidential';
}

/** Registers a client (RFC 7591). Throws oauth4webapi's errors. */
export async function register(
  server: oauth.AuthorizationServer,
  description: ClientDescription,
  http: Transport,
): Promise<Registration> {
  const metadata = {
    client_name: description.name,
    // A native app may use a loopback redirect with any port (RFC 8252 section 7.3).
    application_type: 'native',
    redirect_uris: [description.redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: description.type === 'public' ? 'none' : 'client_secret_post',
  };
  const client = await oauth.processDynamicClientRegistrationResponse(
    await oauth.dynamicClientRegistrationRequest(server, metadata, http),
  );
  const secret = description.type === 'confidential' ? client.client_secret : undefined;
  return {
    client,
    authentication: typeof secret === 'string' ? oauth.ClientSecretPost(secret) : oauth.None(),
  };
}

/**
 * Deletes a registration if the server supports it (RFC 7592 section 2.3). Returns false if it was not deleted: the
 * server gave no registration_client_uri, or one at another origin, which must not see the registration token.
 */
export async function unregister(
  server: oauth.AuthorizationServer,
  { client }: Registration,
  http: Transport,
): Promise<boolean> {
  const { registration_client_uri: uri, registration_access_token: token } = client;
  const url = typeof uri === 'string' ? URL.parse(uri) : null;
  if (url === null || typeof token !== 'string' || url.origin !== new URL(server.issuer).origin) return false;
  const response = await oauth.protectedResourceRequest(token, 'DELETE', url, undefined, undefined, http);
  await response.body?.cancel();
  return response.status === 204;
}
