import { createHash, randomBytes } from 'node:crypto';
import { AuthorizationCode } from 'simple-oauth2';
import { isRefused, listenForCallback, metadata, readUserinfo, register, SCOPE } from './support/app.js';
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
  version('simple-oauth2');
  const resource = PROFILE === 'A' ? { resource: RESOURCE } : {};
  if (PROFILE === 'A') needs('client.authorizeURL({ …, resource })', 'client.getToken({ …, resource })');
  const { client_id, client_secret } = await register({ token_endpoint_auth_method: 'client_secret_post' });
  const server = await metadata();
  const pathOf = (url) => new URL(url).pathname;
  const client = new AuthorizationCode({
    client: { id: client_id, secret: client_secret },
    auth: {
      tokenHost: ISSUER,
      tokenPath: pathOf(server.token_endpoint),
      authorizePath: pathOf(server.authorization_endpoint),
      revokePath: pathOf(server.revocation_endpoint),
    },
  });

  const { returned } = await listenForCallback();
  const code_verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(16).toString('base64url');
  open(
    client.authorizeURL({
      redirect_uri: CALLBACK,
      scope: SCOPE,
      state,
      code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
      code_challenge_method: 'S256',
      ...resource,
    }),
  );
  const { searchParams } = await returned;
  same(searchParams.get('state'), state, 'state');
  step('authorize');
  const code = searchParams.get('code');
  const first = await client.getToken({ code, redirect_uri: CALLBACK, code_verifier, ...resource });
  step('token');
  await readUserinfo(first.token.access_token);
  step('userinfo');

  await expiry();
  await isRefused(first.token.access_token);
  same(first.expired(), true, 'expired()');
  const renewed = await first.refresh();
  await readUserinfo(renewed.token.access_token);
  step('expired-and-refreshed');

  await renewed.revokeAll();
  await isRefused(renewed.token.access_token);
  step('revoked');
});
