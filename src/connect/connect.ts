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
  /** Space-separated; without it, what reading the courses needs, as far as the site offers it. */
  readonly scope?: string;
  /** Opens a browser; injected. Its failure is no failure: the URL is printed as well. */
  readonly open?: (url: string) => void | Promise<void>;
  /** Progress, one line at a time. */
  readonly print: (line: string) => void;
  /** Data, one line at a time. */
  readonly result: (line: string) => void;
  /** Seconds to wait for the member; 300 without it. */
  readonly timeout?: number;
  /** Ends it early: what was registered and issued is still taken back. */
  readonly signal?: AbortSignal;
}

const DEFAULT_SCOPE = ['openid', 'account:read', 'courses:read'];
/** Seconds within which every replica must have heard of a revocation. */
const REVOCATION_REACH = 5;

/**
 * Walks the whole flow against a site as any client would, reads the member's courses, and takes everything back.
 * Throws ConnectError when a step fails, the member says no, the time is over, or the signal fires.
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
    await step('Making sure that the token is dead', () => requireDead(origin, last, http, options.signal));
  } finally {
    // On its own transport: a signal that has fired would stop the tidying up as well.
    const last = transport(origin);
    await revokeAll(context, issued, last).catch(() => undefined);
    const gone = await unregister(server, registration, last).catch(() => false);
    if (gone) options.print('✓ Registration deleted');
  }
  options.print('✓ Everything works.');
}

type Step = <T>(doing: string, work: () => Promise<T>) => Promise<T>;

/** A runner of steps that says each one with its time. What a step throws becomes a ConnectError. */
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

/** The member's part: a browser goes to the site and comes back with a code, which becomes the first tokens. */
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
  // The browser may be long in opening, or fail: neither matters, since the URL stands on the screen.
  Promise.resolve(url)
    .then(open)
    .catch(() => undefined);
  try {
    return await received;
  } catch (thrown) {
    if (!late.aborted || signal?.aborted === true) throw thrown;
    throw new ConnectError(
      `Nobody came back from the site within ${timeout} seconds.`,
      'Open the printed URL in a browser on this machine, sign in, and approve.',
    );
  }
}

/** Proves that a refresh works; a site that issues no refresh token is told so, not failed. */
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

/** Revokes what is still alive of everything issued. The newest goes first: refresh tokens take their family along. */
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

/** Throws ConnectError when a revoked token is still served once every replica must know of the revocation. */
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
    `The site still served the token ${REVOCATION_REACH} seconds after it was revoked.`,
    'Members cannot cut an app off: check that all replicas share one store, and how long they cache.',
  );
}
