import { createServer } from 'node:http';
import { promisify } from 'node:util';
import express from 'express';
import session from 'express-session';
import passport from 'passport';
import OAuth2Strategy from 'passport-oauth2';
import refresh from 'passport-oauth2-refresh';
import { isRefused, listenAt, metadata, readUserinfo, register, SCOPE } from './support/app.js';
import { CALLBACK, expiry, needs, open, PROFILE, RESOURCE, run, step, version } from './support/report.js';

await run(async () => {
  version('passport-oauth2');
  const server = await metadata();
  const { client_id, client_secret } = await register({ token_endpoint_auth_method: 'client_secret_post' });
  const { promise: tokens, resolve } = Promise.withResolvers();
  const strategy = new OAuth2Strategy(
    {
      authorizationURL: server.authorization_endpoint,
      tokenURL: server.token_endpoint,
      clientID: client_id,
      clientSecret: client_secret,
      callbackURL: CALLBACK,
      scope: SCOPE.split(' '),
      state: true,
      pkce: true,
    },
    (accessToken, refreshToken, _profile, done) => {
      resolve({ accessToken, refreshToken });
      done(null, { name: 'member' });
    },
  );
  if (PROFILE === 'A') {
    strategy.authorizationParams = () => ({ resource: RESOURCE });
    strategy.tokenParams = () => ({ resource: RESOURCE });
    needs('strategy.authorizationParams = () => ({ resource })', 'strategy.tokenParams = () => ({ resource })');
  }
  passport.use('school', strategy);
  refresh.use('school', strategy);

  const app = express();
  app.use(session({ secret: 'a secret of the app', resave: false, saveUninitialized: false }));
  app.get('/login', passport.authenticate('school', { session: false }));
  app.get('/callback', passport.authenticate('school', { session: false }), (_request, response) => {
    response.send('signed in');
  });
  await listenAt(CALLBACK, createServer(app));
  open(new URL('/login', CALLBACK));
  const first = await tokens;
  step('authorize');
  step('token');
  await readUserinfo(first.accessToken);
  step('userinfo');

  await expiry();
  await isRefused(first.accessToken);
  const request = promisify(refresh.requestNewAccessToken.bind(refresh));
  await readUserinfo(await request('school', first.refreshToken));
  step('expired-and-refreshed');
});
