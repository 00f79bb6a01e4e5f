import * as oauth from 'oauth4webapi';
import { ConnectError } from '../connect-error.ts';
import type { RegisteredClient } from './registration.ts';
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
  { at: [server, client], resource }: RegisteredClient,
  redirectUri: string,
  scope: string,
): Promise<AuthorizationRequest> {
  const url = URL.parse(server.authorization_endpoint ?? '');
  if (url === null)
    throw new ConnectError(
      'The metadata has no usable "authorization_endpoint".',
      'The site does not offer sign-in: check its configuration.',
    );
  requireSafe(url);
  const state = oauth.generateRandomState();
  const verifier = oauth.generateRandomCodeVerifier();
  const parameters = {
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: redirectUri,
    scope,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    resource,
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { url: url.href, redirectUri, state, verifier };
}

/**
 * Checks state and iss (RFC 9207) of an authorization response. Throws oauth4webapi's
 * AuthorizationResponseError when the response is an error, and its OperationProcessingError when a check fails.
 */
export function checkResponse(
  { at: [server, client] }: RegisteredClient,
  request: AuthorizationRequest,
  response: URLSearchParams,
): URLSearchParams {
  return oauth.validateAuthResponse(server, client, response, request.state);
}
