import { setTimeout as sleep } from 'node:timers/promises';
import * as oauth from 'oauth4webapi';
import { authorizationRequest } from './authorization-request.ts';
import { type CallbackServer, listenForCallback } from './callback-server.ts';
import { ConnectError } from './connect-error.ts';
import { courseTable } from './course-text.ts';
import { readCourses } from './courses.ts';
import { discoverResource, discoverServer, offeredScopes } from './discovery.ts';
import { explain } from './explain.ts';
import { register, unregister } from './registration.ts';
import { checkResponse, exchangeCode, refreshTokens, revokeToken, type TokenContext } from './tokens.ts';
import { gateOrigin, type Transport, transport } from './transport.ts';

export interface ConnectOptions {
  /** The site: its origin, or any address under it. */
  readonly url: string;
  /** Space-separated; by default, the scopes for reading courses that the site offers. */
  readonly scope?: string;
  /** Opens a browser. It may fail, since the URL is also printed. */
  readonly open?: (url: string) => void | Promise<void>;
  /** Prints progress, one line at a time. */
  readonly print: (line: string) => void;
  /** Prints the result, one line at a time. */
  readonly result: (line: string) => void;
  /** Seconds to wait for the member, 300 by default. */
  readonly timeout?: number;
  /** Aborts the run. Registration and tokens are still cleaned up. */
  readonly signal?: AbortSignal;
}

const DEFAULT_SCOPE = ['openid', 'account:read', 'courses:read'];
/** Seconds within which a revocation must reach every replica. */
const REVOCATION_REACH = 5;

/**
 * Runs the whole flow against a site as any client would: discover, register, sign in, read the member's courses,
 * refresh, revoke. Throws ConnectError when a step fails, the member denies access, time runs out or `signal` aborts.
 */
export async function connect(options: ConnectOptions): Promise<void> {
  const origin = gateOrigin(options.url);
  const step = steps(options.print);
  const http = transport(origin, options.signal === undefined ? {} : { signal: options.signal });

  const resource = await step('Finding the protected resource', () => discoverResource(origin, http));
  const server = await step('Finding the authorization server', () => discoverServer(resource, http));
  const registration = await step('Registering as a public client', () =>
    register(server, { name: 'coursegate connect', redirectUri: 'http://127.0.0.1/callback', type: 'public' }, http),
  );
  const context: TokenContext = { server, registration, resource: resource.resource };
  const issued: oauth.TokenEndpointResponse[] = [];
  try {
    const scope = options.scope ?? offeredScopes(DEFAULT_SCOPE, resource, server).join(' ');
    const first = await signIn(context, scope, options, step, http);
    issued.push(first);
    const courses = await step('Reading the courses', () => readCourses(origin, first.access_token, first.scope, http));
    for (const line of courseTable(courses)) options.result(line);
    await refreshOnce(context, issued, options.print, step, http);
    const last = issued.at(-1) ?? first;
    await step('Revoking the tokens', () => revokeAll(context, issued, http));
    issued.length = 0;
    await step('Checking that the token was revoked', () => requireDead(origin, last, http, options.signal));
  } finally {
    // With a transport of its own: an aborted signal would abort the cleanup as well.
    const last = transport(origin);
    await revokeAll(context, issued, last).catch(() => undefined);
    const gone = await unregister(server, registration, last).catch(() => false);
    if (gone) options.print('✓ Registration deleted');
  }
  options.print('✓ Everything works.');
}

type Step = <T>(doing: string, work: () => Promise<T>) => Promise<T>;

/** Runs steps and prints each with its duration. Errors become ConnectErrors. */
function steps(print: (line: string) => void): Step {
  return async (doing, work) => {
    const begin = performance.now();
    try {
      const value = await work();
      print(`✓ ${doing} (${Math.round(performance.now() - begin)} ms)`);
      return value;
    } catch (thrown) {
      print(`✗ ${doing}`);
      throw explain(thrown, doing);
    }
  };
}

/** Sends the member to the site in a browser, and exchanges the code that comes back for the first tokens. */
async function signIn(
  context: TokenContext,
  scope: string,
  options: ConnectOptions,
  step: Step,
  http: Transport,
): Promise<oauth.TokenEndpointResponse> {
  const callback = await listenForCallback();
  try {
    const wanted = { redirectUri: callback.redirectUri, scope, resource: context.resource };
    const request = await authorizationRequest(context.server, context.registration.client, wanted);
    options.print(`Sign in and approve here:\n\n  ${request.url}\n`);
    const response = await step('Waiting for the member', () =>
      waitForMember(callback, request.state, request.url, options),
    );
    return await step('Exchanging the code for tokens', async () =>
      exchangeCode(context, request, checkResponse(context, request, response), http),
    );
  } finally {
    await callback.close();
  }
}

async function waitForMember(
  callback: CallbackServer,
  state: string,
  url: string,
  { open, timeout = 300, signal }: ConnectOptions,
): Promise<URLSearchParams> {
  const late = AbortSignal.timeout(timeout * 1000);
  const received = callback.receive(state, signal === undefined ? late : AbortSignal.any([signal, late]));
  // Opening the browser may be slow or fail. Neither matters: the URL has been printed.
  Promise.resolve(url)
    .then(open)
    .catch(() => undefined);
  try {
    return await received;
  } catch (thrown) {
    if (!late.aborted || signal?.aborted === true) throw thrown;
    throw new ConnectError(
      `The browser did not come back from the site within ${timeout} seconds.`,
      'Open the printed URL in a browser on this machine, sign in, and approve.',
    );
  }
}

/** Tests a refresh. A site that issues no refresh token does not fail the run. */
async function refreshOnce(
  context: TokenContext,
  issued: oauth.TokenEndpointResponse[],
  print: (line: string) => void,
  step: Step,
  http: Transport,
): Promise<void> {
  const token = issued.at(-1)?.refresh_token;
  if (token === undefined) return print('– No refresh token was issued: nothing to refresh');
  issued.push(await step('Refreshing the token', () => refreshTokens(context, token, http)));
}

/** Revokes all tokens, newest first: revoking a refresh token revokes its whole family. */
async function revokeAll(
  context: TokenContext,
  issued: readonly oauth.TokenEndpointResponse[],
  http: Transport,
): Promise<void> {
  const newest = issued.at(-1);
  if (newest === undefined) return;
  const tokens = [newest.refresh_token, ...issued.map((answer) => answer.access_token).reverse()];
  for (const token of tokens) if (token !== undefined) await revokeToken(context, token, http);
}

/** Throws ConnectError when a revoked token is still accepted after REVOCATION_REACH. */
async function requireDead(
  origin: string,
  token: oauth.TokenEndpointResponse,
  http: Transport,
  signal?: AbortSignal,
): Promise<void> {
  for (let second = 0; second <= REVOCATION_REACH; second += 1) {
    if (second > 0) await sleep(1000, undefined, signal === undefined ? {} : { signal });
    try {
      await readCourses(origin, token.access_token, token.scope, http);
    } catch (thrown) {
      if (thrown instanceof oauth.WWWAuthenticateChallengeError && thrown.status === 401) return;
      throw thrown;
    }
  }
  throw new ConnectError(
    `The site still accepted the token ${REVOCATION_REACH} seconds after it was revoked.`,
    'Members cannot disconnect an app: check that all replicas share one store, and how long they cache.',
  );
}
