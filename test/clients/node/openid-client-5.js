import { custom, generators, Issuer } from 'openid-client-5';
import { isRefused, listenForCallback, MEMBER, SCOPE } from './support/app.js';
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
  version('openid-client-5');
  custom.setHttpOptionsDefaults({ timeout: 20_000 });
  const resource = PROFILE === 'A' ? { resource: RESOURCE } : {};
  if (PROFILE === 'A') {
    needs(
      'client.authorizationUrl({ …, resource })',
      'client.callback(redirectUri, params, checks, { exchangeBody: { resource } })',
    );
  }

  const issuer = await Issuer.discover(ISSUER);
  step('discover');
  const client = await issuer.Client.register({
    client_name: 'openid-client 5',
    redirect_uris: [CALLBACK],
    token_endpoint_auth_method: 'none',
  });
  step('register');

  const { returned } = await listenForCallback();
  const code_verifier = generators.codeVerifier();
  const checks = { code_verifier, state: generators.state(), nonce: generators.nonce() };
  open(
    client.authorizationUrl({
      scope: SCOPE,
      code_challenge: generators.codeChallenge(code_verifier),
      code_challenge_method: 'S256',
      state: checks.state,
      nonce: checks.nonce,
      ...resource,
    }),
  );
  const parameters = client.callbackParams((await returned).href);
  step('authorize');
  const tokens = await client.callback(CALLBACK, parameters, checks, { exchangeBody: resource });
  step('token');
  same(tokens.claims().sub, MEMBER, 'sub of the ID token');
  step('id_token');
  same((await client.userinfo(tokens)).sub, MEMBER, 'sub of userinfo');
  step('userinfo');

  await expiry();
  await isRefused(tokens.access_token);
  const renewed = await client.refresh(tokens);
  same((await client.userinfo(renewed)).sub, MEMBER, 'sub of userinfo');
  step('expired-and-refreshed');

  await client.revoke(renewed.refresh_token);
  await isRefused(renewed.access_token);
  step('revoked');
});
