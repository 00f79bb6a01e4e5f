import { createServer } from 'node:http';
import { Auth, customFetch, raw, skipCSRFCheck } from '@auth/core';
import { isRefused, listenAt, metadata, readUserinfo, register } from './support/app.js';
import {
  CALLBACK,
  expiry,
  ISSUER,
  json,
  needs,
  open,
  PROFILE,
  RESOURCE,
  run,
  step,
  version,
} from './support/report.js';

const { origin } = new URL(CALLBACK);

await run(async () => {
  version('@auth/core');
  const { client_id, client_secret } = await register({
    redirect_uris: [`${origin}/auth/callback/school`],
    token_endpoint_auth_method: 'client_secret_post',
  });
  const provider = {
    id: 'school',
    name: 'School',
    type: 'oidc',
    issuer: ISSUER,
    clientId: client_id,
    clientSecret: client_secret,
  };
  if (PROFILE === 'A') {
    provider.authorization = { params: { scope: 'openid profile email', resource: RESOURCE } };
    provider[customFetch] = (url, init) => {
      if (init?.method === 'POST') init.body.set('resource', RESOURCE);
      return fetch(url, init);
    };
    needs(
      'authorization: { params: { …, resource } }',
      "[customFetch]: (url, init) => { if (init?.method === 'POST') init.body.set('resource', resource); return fetch(url, init); }",
    );
  }
  const { promise: account, resolve } = Promise.withResolvers();
  const config = {
    providers: [provider],
    secret: 'a secret of the app',
    basePath: '/auth',
    trustHost: true,
    callbacks: {
      jwt({ token, account }) {
        if (account) resolve(account);
        return token;
      },
    },
  };
  const app = createServer(async (request, response) => {
    const headers = { host: request.headers.host, cookie: request.headers.cookie ?? '' };
    if (request.url === '/login') {
      // What signIn() of the framework packages does.
      const start = new Request(`${origin}/auth/signin/school`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ callbackUrl: `${origin}/signed-in` }),
      });
      const { redirect, cookies } = await Auth(start, { ...config, raw, skipCSRFCheck });
      response.setHeader(
        'set-cookie',
        cookies.map(({ name, value }) => `${name}=${value}; Path=/; HttpOnly`),
      );
      response.writeHead(302, { location: redirect }).end();
    } else if (request.url.startsWith('/auth/')) {
      const answer = await Auth(new Request(`${origin}${request.url}`, { headers }), config);
      response.setHeader('set-cookie', answer.headers.getSetCookie());
      response.writeHead(answer.status, { location: answer.headers.get('location') ?? '' }).end();
    } else {
      response.end('signed in');
    }
  });
  await listenAt(CALLBACK, app);
  open(`${origin}/login`);
  const tokens = await account;
  for (const name of ['discover', 'authorize', 'token', 'id_token']) step(name);
  await readUserinfo(tokens.access_token);
  step('userinfo');

  await expiry();
  await isRefused(tokens.access_token);
  // Auth.js does not refresh: its guide has the app do this in the jwt callback.
  const body = new URLSearchParams({
    grant_type: 'refresh_token',
    client_id,
    client_secret,
    refresh_token: tokens.refresh_token,
  });
  const renewed = await json(await fetch((await metadata()).token_endpoint, { method: 'POST', body }));
  await readUserinfo(renewed.access_token);
  step('expired-and-refreshed');
});
