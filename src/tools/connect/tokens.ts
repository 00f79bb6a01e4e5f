import * as oauth from 'oauth4webapi';
import type { AuthorizationRequest } from './authorization-request.ts';
import type { Registration } from './registration.ts';
import type { Transport } from './transport.ts';

/** The server, client and resource of a token request. */
export interface TokenContext {
  readonly server: oauth.AuthorizationServer;
  readonly registration: Registration;
  readonly resource: string;
}

/**
 * Checks state and iss (RFC 9207) of an authorization response. Throws oauth4webapi's
 * AuthorizationResponseError when the response is an error, and its OperationProcessingError when a check fails.
 */
export function checkResponse(
  { server, registration }: TokenContext,
  request: AuthorizationRequest,
  response: URLSearchParams,
): URLSearchParams {
  return oauth.validateAuthResponse(server, registration.client, response, request.state);
}

/** Exchanges the code of a checked response for tokens (RFC 6749 section 4.1.3). Throws oauth4webapi's errors. */
export async function exchangeCode(
  { server, registration, resource }: TokenContext,
  request: AuthorizationRequest,
  checked: URLSearchParams,
  http: Transport,
): Promise<oauth.TokenEndpointResponse> {
  const { client, authentication } = registration;
  const { redirectUri, verifier } = request;
  const options = { ...http, additionalParameters: { resource } };
  const answer = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    authentication,
    checked,
    redirectUri,
    verifier,
    options,
  );
  return oauth.processAuthorizationCodeResponse(server, client, answer);
}

/** Exchanges a refresh token for new tokens (RFC 6749 section 6). Throws oauth4webapi's errors. */
export async function refreshTokens(
  { server, registration, resource }: TokenContext,
  refreshToken: string,
  http: Transport,
): Promise<oauth.TokenEndpointResponse> {
  const { client, authentication } = registration;
  const options = { ...http, additionalParameters: { resource } };
  const answer = await oauth.refreshTokenGrantRequest(server, client, authentication, refreshToken, options);
  return oauth.processRefreshTokenResponse(server, client, answer);
}

/** Revokes a token. An invalid token counts as success (RFC 7009 section 2.2). */
export async function revokeToken(
  { server, registration }: TokenContext,
  token: string,
  http: Transport,
): Promise<void> {
  const { client, authentication } = registration;
  await oauth.processRevocationResponse(await oauth.revocationRequest(server, client, authentication, token, http));
}
