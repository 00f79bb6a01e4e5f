import * as oauth from 'oauth4webapi';
import { ConnectError } from './connect-error.ts';
import { requireSafe } from './transport.ts';

/** An authorization request, and what is needed to check the response. */
export interface AuthorizationRequest {
  readonly url: string;
  readonly redirectUri: string;
  /** Returned unchanged in the response, which binds it to this request (RFC 6749 section 10.12). */
  readonly state: string;
  /** Proves to the token endpoint that this client requested the code (RFC 7636). */
  readonly verifier: string;
}

/** Creates an authorization request with PKCE, state and resource (RFC 6749 section 4.1.1, RFC 7636, RFC 8707). */
export async function authorizationRequest(
  server: oauth.AuthorizationServer,
  client: oauth.Client,
  wanted: { readonly redirectUri: string; readonly scope: string; readonly resource: string },
): Promise<AuthorizationRequest> {
  const url = URL.parse(server.authorization_endpoint ?? '');
  if (url === null) {
    throw new ConnectError(
      'The metadata has no usable "authorization_endpoint".',
      'The site does not offer sign-in: check its configuration.',
    );
  }
  requireSafe(url);
  const state = oauth.generateRandomState();
  const verifier = oauth.generateRandomCodeVerifier();
  const parameters = {
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: wanted.redirectUri,
    scope: wanted.scope,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    resource: wanted.resource,
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { url: url.href, redirectUri: wanted.redirectUri, state, verifier };
}
