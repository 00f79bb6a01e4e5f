import { setTimeout as sleep } from 'node:timers/promises';
import { type CallbackServer, listenForCallback } from './callback-server.ts';
import { ConnectError } from './connect-error.ts';
import { courseTable } from './course-text.ts';
import { readCourses } from './courses.ts';
import { authorizationRequest, checkResponse } from './oauth/authorization.ts';
import { type AuthorizationServer, discoverResource, discoverServer, type ResourceServer } from './oauth/discovery.ts';
import { explain } from './oauth/explain.ts';
import { type RegisteredClient, register, unregister } from './oauth/registration.ts';
import { exchangeCode, isTokenRefused, refreshTokens, revokeToken, type TokenResponse } from './oauth/tokens.ts';
import { gateOrigin, type Transport, transport } from './oauth/transport.ts';

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

/** What the steps after the registration share. */
interface Run extends ConnectOptions {
  readonly origin: string;
  readonly client: RegisteredClient;
  readonly step: Step;
  readonly http: Transport;
}

const DEFAULT_SCOPE = ['openid', 'account:read', 'courses:read'];
/** Seconds within which a revocation must reach every replica. */
const REVOCATION_REACH = 5;

/**
 * Runs the whole flow against a site as any client would: discover, register, sign in, read the member's courses,
 * refresh, revoke. Throws ConnectError when a step fails, the member denies access, time runs out or `signal` aborts.
 */
export async function connect(options: ConnectOptions): Promise<void> {
  const { print, signal } = options;
  const origin = gateOrigin(options.url);
  const step = steps(print);
  const http = transport(origin, { signal });

  const resource = await step('Finding the protected resource', () => discoverResource(origin, http));
  const server = await step('Finding the authorization server', () => discoverServer(resource, http));
  const description = { name: 'coursegate connect', redirectUri: 'http://127.0.0.1/callback' };
  const client = await step('Registering as a public client', () => register(server, resource, description, http));
  const run: Run = { ...options, origin, client, step, http };
  const issued: TokenResponse[] = [];
  try {
    const first = await signIn(run, options.scope ?? offeredScopes(resource, server));
    issued.push(first);
    const courses = await step('Reading the courses', () => readCourses(origin, first.access_token, first.scope, http));
    for (const line of courseTable(courses)) options.result(line);
    const last = await refreshOnce(run, first);
    if (last !== first) issued.push(last);
    await step('Revoking the tokens', () => revokeAll(client, issued, http));
    issued.length = 0;
    await step('Checking that the token was revoked', () => requireDead(run, last));
  } finally {
    // With a transport of its own: an aborted signal would abort the cleanup as well.
    const last = transport(origin);
    await revokeAll(client, issued, last).catch(() => undefined);
    const gone = await unregister(client, last).catch(() => false);
    if (gone) print('✓ Registration deleted');
  }
  print('✓ Everything works.');
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

/** The default scopes that the site offers; all of them if the site lists none. */
function offeredScopes(resource: ResourceServer, server: AuthorizationServer): string {
  const offered = [...(server.scopes_supported ?? []), ...(resource.scopes_supported ?? [])];
  return DEFAULT_SCOPE.filter((scope) => offered.length === 0 || offered.includes(scope)).join(' ');
}

/** Sends the member to the site in a browser, and exchanges the code that comes back for the first tokens. */
async function signIn(run: Run, scope: string): Promise<TokenResponse> {
  const { client, step } = run;
  const callback = await listenForCallback();
  try {
    const request = await authorizationRequest(client, callback.redirectUri, scope);
    run.print(`Sign in and approve here:\n\n  ${request.url}\n`);
    const response = await step('Waiting for the member', () => waitForMember(callback, request, run));
    return await step('Exchanging the code for tokens', async () =>
      exchangeCode(client, request, checkResponse(client, request, response), run.http),
    );
  } finally {
    await callback.close();
  }
}

async function waitForMember(
  callback: CallbackServer,
  { state, url }: { readonly state: string; readonly url: string },
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

/** Tests a refresh and returns the newest tokens. A site that issues no refresh token does not fail the run. */
async function refreshOnce({ client, print, step, http }: Run, first: TokenResponse): Promise<TokenResponse> {
  const token = first.refresh_token;
  if (token !== undefined) return step('Refreshing the token', () => refreshTokens(client, token, http));
  print('– No refresh token was issued: nothing to refresh');
  return first;
}

/** Revokes all tokens, newest first: revoking a refresh token revokes its whole family. */
async function revokeAll(client: RegisteredClient, issued: readonly TokenResponse[], http: Transport): Promise<void> {
  const tokens = [issued.at(-1)?.refresh_token, ...issued.map((answer) => answer.access_token).reverse()];
  for (const token of tokens) if (token !== undefined) await revokeToken(client, token, http);
}

/** Throws ConnectError when a revoked token is still accepted after REVOCATION_REACH. */
async function requireDead({ origin, http, signal }: Run, token: TokenResponse): Promise<void> {
  for (let second = 0; second <= REVOCATION_REACH; second += 1) {
    if (second > 0) await sleep(1000, undefined, signal === undefined ? {} : { signal });
    try {
      await readCourses(origin, token.access_token, token.scope, http);
    } catch (thrown) {
      if (isTokenRefused(thrown)) return;
      throw thrown;
    }
  }
  throw new ConnectError(
    `The site still accepted the token ${REVOCATION_REACH} seconds after it was revoked.`,
    'Members cannot disconnect an app: check that all replicas share one store, and how long they cache.',
  );
}
