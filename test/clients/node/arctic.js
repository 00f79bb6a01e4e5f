import { CodeChallengeMethod, generateCodeVerifier, generateState, OAuth2Client } from 'arctic';
import { isRefused, listenForCallback, metadata, readUserinfo, register, SCOPE } from './support/app.js';
import { CALLBACK, expiry, open, PROFILE, RESOURCE, run, same, step, version } from './support/report.js';

/** Started with "secret", the app is a confidential client. */
const METHOD = process.argv[2] === 'secret' ? 'client_secret_post' : 'none';

await run(async () => {
  version('arctic');
  const server = await metadata();
  const { client_id, client_secret = null } = await register({ token_endpoint_auth_method: METHOD });
  const client = new OAuth2Client(client_id, client_secret, CALLBACK);

  const { returned } = await listenForCallback();
  const state = generateState();
  const verifier = generateCodeVerifier();
  const url = client.createAuthorizationURLWithPKCE(
    server.authorization_endpoint,
    state,
    CodeChallengeMethod.S256,
    verifier,
    SCOPE.split(' '),
  );
  // The token request cannot have it.
  if (PROFILE === 'A') url.searchParams.set('resource', RESOURCE);
  open(url);
  const { searchParams } = await returned;
  same(searchParams.get('state'), state, 'state');
  step('authorize');
  const tokens = await client.validateAuthorizationCode(server.token_endpoint, searchParams.get('code'), verifier);
  step('token');
  await readUserinfo(tokens.accessToken());
  step('userinfo');

  await expiry();
  await isRefused(tokens.accessToken());
  const renewed = await client.refreshAccessToken(server.token_endpoint, tokens.refreshToken(), []);
  await readUserinfo(renewed.accessToken());
  step('expired-and-refreshed');

  await client.revokeToken(server.revocation_endpoint, renewed.refreshToken());
  await isRefused(renewed.accessToken());
  step('revoked');
});
