import { generateCodeVerifier, OAuth2Client, OAuth2Fetch } from '@badgateway/oauth2-client';
import { isRefused, listenForCallback, readUserinfo, register, SCOPE } from './support/app.js';
import {
  CALLBACK,
  expiry,
  ISSUER,
  needs,
  open,
  PROFILE,
  RESOURCE,
  run,
  same,
  step,
  version,
} from './support/report.js';

await run(async () => {
  version('@badgateway/oauth2-client');
  const resource = PROFILE === 'A' ? { resource: RESOURCE } : {};
  if (PROFILE === 'A') {
    needs(
      'client.authorizationCode.getAuthorizeUri({ …, resource })',
      'client.authorizationCode.getToken({ …, resource })',
    );
  }
  const { client_id: clientId } = await register({ token_endpoint_auth_method: 'none' });
  const client = new OAuth2Client({ server: ISSUER, clientId });

  const { returned } = await listenForCallback();
  const codeVerifier = await generateCodeVerifier();
  const state = 'state-of-the-app';
  const redirectUri = CALLBACK;
  const scope = SCOPE.split(' ');
  open(await client.authorizationCode.getAuthorizeUri({ redirectUri, state, codeVerifier, scope, ...resource }));
  const { code } = client.authorizationCode.validateResponse(await returned, { state });
  step('discover');
  step('authorize');

  let kept = await client.authorizationCode.getToken({ code, redirectUri, codeVerifier, ...resource });
  step('token');
  const api = new OAuth2Fetch({
    client,
    getNewToken: () => null,
    getStoredToken: () => kept,
    storeToken: (token) => {
      kept = token;
    },
  });
  await readUserinfo(undefined, (...request) => api.fetch(...request));
  step('userinfo');

  const { accessToken } = kept;
  await expiry();
  await isRefused(accessToken);
  await readUserinfo(undefined, (...request) => api.fetch(...request));
  same(kept.accessToken === accessToken, false, 'the access token after its expiry is the old one');
  step('expired-and-refreshed');

  await client.revoke(kept, 'refresh_token');
  await isRefused(kept.accessToken);
  step('revoked');
});
