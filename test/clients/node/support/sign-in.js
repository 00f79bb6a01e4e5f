/** Signs a member in for a GraphQL client, which leaves that to the app. */
import * as oidc from 'openid-client';
import { listenForCallback, SCOPE } from './app.js';
import { CALLBACK, ISSUER, open, RESOURCE, step } from './report.js';

/** Returns a function for a valid access token, which refreshes an expired one. */
export async function signIn(name) {
  const config = await oidc.dynamicClientRegistration(
    new URL(ISSUER),
    { client_name: name, redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' },
    oidc.None(),
    { execute: [oidc.allowInsecureRequests] },
  );
  const { returned } = await listenForCallback();
  const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
  const expectedState = oidc.randomState();
  const url = oidc.buildAuthorizationUrl(config, {
    redirect_uri: CALLBACK,
    scope: SCOPE,
    code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expectedState,
    resource: RESOURCE,
  });
  open(url);
  const checks = { pkceCodeVerifier, expectedState };
  let tokens = await oidc.authorizationCodeGrant(config, await returned, checks, { resource: RESOURCE });
  let expires = Date.now() + tokens.expires_in * 1000;
  step('authorize');
  step('token');
  return async () => {
    if (Date.now() < expires) return tokens.access_token;
    tokens = await oidc.refreshTokenGrant(config, tokens.refresh_token);
    expires = Date.now() + tokens.expires_in * 1000;
    return tokens.access_token;
  };
}
