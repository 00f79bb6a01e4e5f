/** What apps do for themselves when their library has no call for it. */
import { createServer } from 'node:http';
import { CALLBACK, ISSUER, json, same } from './report.js';

export const SCOPE = 'openid profile email account:read';
export const MEMBER = 'm-1001';

/** The metadata of the authorization server. */
export async function metadata() {
  return await json(await fetch(`${ISSUER}/.well-known/oauth-authorization-server`));
}

/** Registers the app, which for many libraries its developer does beforehand. */
export async function register(more) {
  const { registration_endpoint } = await metadata();
  const body = { client_name: 'Client matrix', redirect_uris: [CALLBACK], ...more };
  const headers = { 'content-type': 'application/json' };
  return await json(await fetch(registration_endpoint, { method: 'POST', headers, body: JSON.stringify(body) }));
}

/** Uses an access token. Throws unless it is the member's. */
export async function readUserinfo(token, fetching = fetch) {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const { sub } = await json(await fetching((await metadata()).userinfo_endpoint, { headers }));
  same(sub, MEMBER, 'sub of userinfo');
}

/** Throws unless the gate refuses the token. */
export async function isRefused(token) {
  const { userinfo_endpoint } = await metadata();
  const { status } = await fetch(userinfo_endpoint, { headers: { authorization: `Bearer ${token}` } });
  same(status, 401, 'status of an expired or revoked token');
}

/** Listens at the redirect URI of a command-line app. `returned` resolves to the URL that the browser requests. */
export async function listenForCallback(callback = CALLBACK) {
  const { promise, resolve } = Promise.withResolvers();
  const listener = createServer((request, response) => {
    response.setHeader('connection', 'close');
    response.end('You may close this window.');
    listener.close();
    resolve(new URL(request.url, callback));
  });
  await listenAt(callback, listener);
  return { returned: promise };
}

/** Lets a server listen on the port of the redirect URI. */
export async function listenAt(callback, server) {
  const { hostname, port } = new URL(callback);
  await new Promise((listening) => server.listen(Number(port), hostname, listening));
}
