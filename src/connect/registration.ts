import * as oauth from 'oauth4webapi';
import type { Transport } from './transport.ts';

/** A registered client with the way it proves itself at the token endpoint. */
export interface Registration {
  readonly client: oauth.Client;
  readonly authentication: oauth.ClientAuth;
}

/** What a client of ours tells the server about itself (RFC 7591 §2). */
export interface ClientDescription {
  readonly name: string;
  readonly redirectUri: string;
  /** Public clients keep no secret; confidential ones send theirs in the body (`client_secret_post`). */
  readonly type: 'public' | 'confidential';
}

/** Registers a client (RFC 7591). Throws what oauth4webapi throws. */
export async function register(
  server: oauth.AuthorizationServer,
  description: ClientDescription,
  http: Transport,
): Promise<Registration> {
  const metadata = {
    client_name: description.name,
    // Native is what a loopback redirect is (RFC 8252 §7.3): the server then allows any port.
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
 * Deletes a registration where the server said how (RFC 7592 §2.3). Out: whether it is gone; false when the server gave
 * no way, or one that leads to another origin, which must not see the registration token.
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
