import * as oidc from 'openid-client';
import { isRefused, listenForCallback, MEMBER, SCOPE } from './support/app.js';
import { CALLBACK, expiry, ISSUER, needs, open, PROFILE, RESOURCE, run, step, version } from './support/report.js';

/** Started with "par-dpop", the app pushes its authorization request, and binds its tokens to a key. */
const isStrict = process.argv[2] === 'par-dpop';

await run(async () => {
  version('openid-client');
  const resource = PROFILE === 'A' ? { resource: RESOURCE } : {};
  if (PROFILE === 'A') {
    needs(
      isStrict
        ? 'client.buildAuthorizationUrlWithPAR(config, { …, resource })'
        : 'client.buildAuthorizationUrl(config, { …, resource })',
      'client.authorizationCodeGrant(config, url, checks, { resource })',
    );
  }

  const config = await oidc.dynamicClientRegistration(
    new URL(ISSUER),
    { client_name: 'openid-client 6', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' },
    oidc.None(),
    { execute: [oidc.allowInsecureRequests] },
  );
  step('discover');
  step('register');

  const proofs = isStrict ? { DPoP: oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair()) } : {};
  const { returned } = await listenForCallback();
  const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
  const expectedState = oidc.randomState();
  const expectedNonce = oidc.randomNonce();
  const parameters = {
    redirect_uri: CALLBACK,
    scope: SCOPE,
    code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expectedState,
    nonce: expectedNonce,
    ...resource,
  };
  open(
    isStrict
      ? await oidc.buildAuthorizationUrlWithPAR(config, parameters, proofs)
      : oidc.buildAuthorizationUrl(config, parameters),
  );
  const callback = await returned;
  step('authorize');

  const checks = { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true };
  const tokens = await oidc.authorizationCodeGrant(config, callback, checks, resource, proofs);
  step('token');
  if (tokens.claims().sub !== MEMBER) throw new Error('another sub');
  step('id_token');
  await oidc.fetchUserInfo(config, tokens.access_token, MEMBER, proofs);
  step('userinfo');

  await expiry();
  await isRefused(tokens.access_token);
  const renewed = await oidc.refreshTokenGrant(config, tokens.refresh_token, undefined, proofs);
  await oidc.fetchUserInfo(config, renewed.access_token, MEMBER, proofs);
  step('expired-and-refreshed');

  await oidc.tokenRevocation(config, renewed.refresh_token);
  await isRefused(renewed.access_token);
  step('revoked');
});
