import * as oauth from 'oauth4webapi';
import { ConnectError } from './connect-error.ts';
import { requireSafe } from './transport.ts';

/** One authorization request, and what must be kept to accept its answer. */
export interface AuthorizationRequest {
  readonly url: string;
  readonly redirectUri: string;
  /** Comes back unchanged: the answer belongs to this request (RFC 6749 §10.12). */
  readonly state: string;
  /** Proves at the token endpoint that the code was asked for by us (RFC 7636). */
  readonly verifier: string;
}

/** Makes an authorization request with PKCE, state and resource (RFC 6749 §4.1.1, RFC 7636, RFC 8707). */
export async function authorizationRequest(
  server: oauth.AuthorizationServer,
  client: oauth.Client,
  wanted: { readonly redirectUri: string; readonly scope: string; readonly resource: string },
): Promise<AuthorizationRequest> {
  const url = URL.parse(server.authorization_endpoint ?? '');
  if (url === null) {
    throw new ConnectError(
      'The metadata has no usable "authorization_endpoint".',
      'The site does not offer sign-in: see its configuration.',
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
