import * as oauth from 'oauth4webapi';
import type { AuthorizationRequest } from './authorization.ts';
import type { RegisteredClient } from './registration.ts';
import type { Transport } from './transport.ts';

// The requests that need a code or a token. All of them throw oauth4webapi's errors.

export type TokenResponse = oauth.TokenEndpointResponse;

/** Exchanges the code of a checked response for tokens (RFC 6749 section 4.1.3). */
export async function exchangeCode(
  { at, resource }: RegisteredClient,
  { redirectUri, verifier }: AuthorizationRequest,
  checked: URLSearchParams,
  http: Transport,
): Promise<TokenResponse> {
  const options = { ...http, additionalParameters: { resource } };
  const answer = await oauth.authorizationCodeGrantRequest(...at, checked, redirectUri, verifier, options);
  return oauth.processAuthorizationCodeResponse(at[0], at[1], answer);
}

/** Exchanges a refresh token for new tokens (RFC 6749 section 6). */
export async function refreshTokens(
  { at, resource }: RegisteredClient,
  refreshToken: string,
  http: Transport,
): Promise<TokenResponse> {
  const options = { ...http, additionalParameters: { resource } };
  const answer = await oauth.refreshTokenGrantRequest(...at, refreshToken, options);
  return oauth.processRefreshTokenResponse(at[0], at[1], answer);
}

/** Revokes a token. An invalid token counts as success (RFC 7009 section 2.2). */
export async function revokeToken({ at }: RegisteredClient, token: string, http: Transport): Promise<void> {
  await oauth.processRevocationResponse(await oauth.revocationRequest(...at, token, http));
}

/** Asks whether a token is active, and what it allows (RFC 7662). */
export async function introspectToken({ at }: RegisteredClient, token: string, http: Transport) {
  return oauth.processIntrospectionResponse(at[0], at[1], await oauth.introspectionRequest(...at, token, http));
}

/**
 * Sends a request with a token. Throws on 401 and 403 with a challenge. A `body` is sent as JSON; `fields` are added.
 */
export async function requestResource(
  token: string,
  url: URL,
  http: Transport,
  body?: object,
  fields: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const headers = new Headers({ accept: 'application/json', ...fields });
  if (body === undefined) return oauth.protectedResourceRequest(token, 'GET', url, headers, undefined, http);
  headers.set('content-type', 'application/json');
  return oauth.protectedResourceRequest(token, 'POST', url, headers, JSON.stringify(body), http);
}

/** Whether the grant behind a refresh token is gone: revoked, expired, or deleted together with the client. */
export function isGrantGone(thrown: unknown): boolean {
  return thrown instanceof oauth.ResponseBodyError && ['invalid_grant', 'invalid_client'].includes(thrown.error);
}

/** Whether a resource refused the token itself. */
export function isTokenRefused(thrown: unknown): boolean {
  return thrown instanceof oauth.WWWAuthenticateChallengeError && thrown.status === 401;
}
