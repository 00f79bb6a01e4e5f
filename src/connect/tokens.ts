import * as oauth from 'oauth4webapi';
import type { AuthorizationRequest } from './authorization-request.ts';
import type { Registration } from './registration.ts';
import type { Transport } from './transport.ts';

/** What the token endpoint is asked about: one server, one client, one resource. */
export interface TokenContext {
  readonly server: oauth.AuthorizationServer;
  readonly registration: Registration;
  readonly resource: string;
}

/**
 * Checks an authorization response: state is ours, iss is the server's (RFC 9207). Throws oauth4webapi's
 * AuthorizationResponseError when the response is an error, and its OperationProcessingError when a check fails.
 */
export function checkResponse(
  { server, registration }: TokenContext,
  request: AuthorizationRequest,
  response: URLSearchParams,
): URLSearchParams {
  return oauth.validateAuthResponse(server, registration.client, response, request.state);
}

/** Exchanges the code of a checked response for tokens (RFC 6749 §4.1.3). Throws what oauth4webapi throws. */
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

/** Exchanges a refresh token for new tokens (RFC 6749 §6). Throws what oauth4webapi throws. */
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

/** Revokes a token (RFC 7009). A token that is already dead is a success by the standard. */
export async function revokeToken(
  { server, registration }: TokenContext,
  token: string,
  http: Transport,
): Promise<void> {
  const { client, authentication } = registration;
  await oauth.processRevocationResponse(await oauth.revocationRequest(server, client, authentication, token, http));
}
