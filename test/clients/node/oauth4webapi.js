import * as oauth from 'oauth4webapi';
import { isRefused, listenForCallback, MEMBER, SCOPE } from './support/app.js';
import { CALLBACK, expiry, ISSUER, needs, open, PROFILE, RESOURCE, run, step, version } from './support/report.js';

await run(async () => {
  version('oauth4webapi');
  const http = { [oauth.allowInsecureRequests]: true };
  const resource = PROFILE === 'A' ? { resource: RESOURCE } : {};
  if (PROFILE === 'A') needs("url.searchParams.set('resource', resource)", 'additionalParameters: { resource }');
  const options = { ...http, additionalParameters: resource };

  const issuer = new URL(ISSUER);
  const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, http));
  step('discover');

  const client = await oauth.processDynamicClientRegistrationResponse(
    await oauth.dynamicClientRegistrationRequest(
      server,
      { client_name: 'oauth4webapi', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' },
      http,
    ),
  );
  const auth = oauth.None();
  step('register');

  const { returned } = await listenForCallback();
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const nonce = oauth.generateRandomNonce();
  const url = new URL(server.authorization_endpoint);
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: CALLBACK,
    scope: SCOPE,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
    ...resource,
  }).toString();
  open(url);
  const parameters = oauth.validateAuthResponse(server, client, await returned, state);
  step('authorize');

  const answer = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    auth,
    parameters,
    CALLBACK,
    verifier,
    options,
  );
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, answer, {
    expectedNonce: nonce,
    requireIdToken: true,
  });
  step('token');
  await oauth.validateApplicationLevelSignature(server, answer, http);
  step('id_token');

  const read = async (token) => {
    const response = await oauth.userInfoRequest(server, client, token, http);
    await oauth.processUserInfoResponse(server, client, MEMBER, response);
  };
  await read(tokens.access_token);
  step('userinfo');

  await expiry();
  await isRefused(tokens.access_token);
  const renewed = await oauth.processRefreshTokenResponse(
    server,
    client,
    await oauth.refreshTokenGrantRequest(server, client, auth, tokens.refresh_token, options),
  );
  await read(renewed.access_token);
  step('expired-and-refreshed');

  await oauth.processRevocationResponse(
    await oauth.revocationRequest(server, client, auth, renewed.refresh_token, http),
  );
  await isRefused(renewed.access_token);
  step('revoked');
});
