import { InMemoryWebStorage, OidcClient, WebStorageStateStore } from 'oidc-client-ts';
import { isRefused, listenForCallback, MEMBER, readUserinfo, register, SCOPE } from './support/app.js';
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
  version('oidc-client-ts');
  const resource = PROFILE === 'A' ? { resource: RESOURCE, extraTokenParams: { resource: RESOURCE } } : {};
  if (PROFILE === 'A') needs('new OidcClient({ …, resource, extraTokenParams: { resource } })');
  const { client_id } = await register({ token_endpoint_auth_method: 'none' });
  const client = new OidcClient({
    authority: ISSUER,
    client_id,
    redirect_uri: CALLBACK,
    scope: SCOPE,
    loadUserInfo: true,
    // A browser has a storage of its own.
    stateStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
    ...resource,
  });

  const { returned } = await listenForCallback();
  open((await client.createSigninRequest({})).url);
  step('discover');
  const callback = await returned;
  step('authorize');
  const tokens = await client.processSigninResponse(callback.href);
  step('token');
  same(tokens.profile.sub, MEMBER, 'sub of the ID token and userinfo');
  step('id_token');
  step('userinfo');

  await expiry();
  await isRefused(tokens.access_token);
  const renewed = await client.useRefreshToken({ state: tokens });
  await readUserinfo(renewed.access_token);
  step('expired-and-refreshed');

  await client.revokeToken(renewed.refresh_token, 'refresh_token');
  await isRefused(renewed.access_token);
  step('revoked');
});
