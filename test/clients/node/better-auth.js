import { createServer } from 'node:http';
import { betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';
import { toNodeHandler } from 'better-auth/node';
import { genericOAuth } from 'better-auth/plugins';
import { isRefused, listenAt, readUserinfo, register, SCOPE } from './support/app.js';
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

const { origin } = new URL(CALLBACK);

await run(async () => {
  version('better-auth');
  const resource = { resource: RESOURCE };
  const parameters = PROFILE === 'A' ? { authorizationUrlParams: resource, tokenUrlParams: resource } : {};
  if (PROFILE === 'A') needs('authorizationUrlParams: { resource }', 'tokenUrlParams: { resource }');
  const { client_id, client_secret } = await register({
    redirect_uris: [`${origin}/api/auth/callback/school`],
    token_endpoint_auth_method: 'client_secret_post',
  });
  const auth = betterAuth({
    baseURL: origin,
    secret: 'a secret of the app, of at least 32 characters',
    database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
    telemetry: { enabled: false },
    plugins: [
      genericOAuth({
        config: [
          {
            providerId: 'school',
            clientId: client_id,
            clientSecret: client_secret,
            discoveryUrl: `${ISSUER}/.well-known/openid-configuration`,
            scopes: SCOPE.split(' '),
            ...parameters,
          },
        ],
      }),
    ],
  });

  const handle = toNodeHandler(auth);
  const { promise: session, resolve } = Promise.withResolvers();
  const app = createServer(async (request, response) => {
    if (request.url === '/login') {
      const body = { provider: 'school', callbackURL: '/signed-in', errorCallbackURL: '/failed' };
      const answer = await auth.api.signInSocial({ body, asResponse: true });
      response.setHeader('set-cookie', answer.headers.getSetCookie());
      response.writeHead(302, { location: (await answer.json()).url }).end();
    } else if (request.url.startsWith('/signed-in')) {
      response.end('signed in');
      resolve(new Headers({ cookie: request.headers.cookie }));
    } else if (request.url.startsWith('/failed')) {
      response.writeHead(500).end(request.url);
    } else {
      await handle(request, response);
    }
  });
  await listenAt(CALLBACK, app);
  open(`${origin}/login`);
  const headers = await session;
  step('discover');
  step('authorize');
  step('token');
  step('id_token');
  const [account] = await auth.api.listUserAccounts({ headers });
  const tokens = () => auth.api.getAccessToken({ body: { accountId: account.id }, headers });
  const { accessToken } = await tokens();
  await readUserinfo(accessToken);
  step('userinfo');

  await expiry();
  await isRefused(accessToken);
  const renewed = await tokens();
  await readUserinfo(renewed.accessToken);
  same(renewed.accessToken === accessToken, false, 'the access token after its expiry is the old one');
  step('expired-and-refreshed');
});
