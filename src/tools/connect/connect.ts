import { setTimeout as sleep } from 'node:timers/promises';
import { type CallbackServer, listenForCallback } from './callback-server.ts';
import { ConnectError } from './connect-error.ts';
import { authorizationRequest, checkResponse } from './oauth/authorization.ts';
import { type AuthorizationServer, discoverResource, discoverServer, type ResourceServer } from './oauth/discovery.ts';
import { explain } from './oauth/explain.ts';
import { type RegisteredClient, register, unregister } from './oauth/registration.ts';
import {
  exchangeCode,
  introspectToken,
  isTokenRefused,
  refreshTokens,
  revokeToken,
  type TokenResponse,
} from './oauth/tokens.ts';
import { gateOrigin, type Transport, transport } from './oauth/transport.ts';
import { type Offer, readOffer } from './offer.ts';
import { type Place, placesOf } from './places.ts';
import { printable } from './printable.ts';
import { type Step, steps } from './steps.ts';

export interface ConnectOptions {
  /** The site: its origin, or any address under it. */
  readonly url: string;
  /** Space-separated; by default, those for reading that the site offers and the addresses to be read need. */
  readonly scope?: string;
  /** Opens a browser. It may fail, since the URL is also printed. */
  readonly open?: (url: string) => void | Promise<void>;
  /** Prints progress, one line at a time. */
  readonly print: (line: string) => void;
  /** Shows that a step goes on. Returns a function that removes it. */
  readonly wait?: (what: string) => () => void;
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
  readonly server: AuthorizationServer;
  readonly offer: Offer;
  /** The site's name for people. */
  readonly site: string;
  readonly client: RegisteredClient;
  readonly step: Step;
  readonly http: Transport;
}

const DEFAULT_SCOPE = ['openid', 'account:read', 'courses:read'];
/** Seconds within which a revocation must reach every replica. */
const REVOCATION_REACH = 5;
/** In characters. */
const LONGEST_NAME = 100;

/**
 * Runs the whole flow against a site as any client would: discover, register, sign in, read what the site offers,
 * refresh, revoke. A token that works is success: what cannot be read with it is reported and does not fail the run.
 * Throws ConnectError when a step fails, the member denies access, time runs out or `signal` aborts.
 */
export async function connect(options: ConnectOptions): Promise<void> {
  const { print, signal } = options;
  const origin = gateOrigin(options.url);
  const step = steps(print, options.wait);
  const http = transport(origin, { signal });

  const resource = await step('Finding the protected resource', () => discoverResource(origin, http));
  const server = await step('Finding the authorization server', () => discoverServer(resource, http));
  const offer = await step('Finding what the site offers', () => readOffer(origin, http));
  if (!offer.described) print('– /openapi.json describes no API here. Trying the usual addresses.');
  const description = { name: 'coursegate connect', redirectUri: 'http://127.0.0.1/callback' };
  const client = await step('Registering as a public client', () => register(server, resource, description, http));
  const run: Run = { ...options, origin, server, offer, site: siteOf(resource, origin), client, step, http };
  const issued: TokenResponse[] = [];
  let works = '';
  try {
    const scope = options.scope ?? offeredScopes(resource, server, offer);
    const first = await signIn(run, scope);
    issued.push(first);
    const { isAccepted, complete } = await useToken(run, first, scope);
    const last = await refreshOnce(run, first);
    if (last !== first) issued.push(last);
    await step('Revoking the tokens', () => revokeAll(client, issued, http));
    issued.length = 0;
    await step('Checking that the token was revoked', () => requireDead(run, last, isAccepted));
    works = complete
      ? 'Everything works.'
      : 'The connection works. Lines that begin with – say what could not be read.';
  } finally {
    // With a transport of its own: an aborted signal would abort the cleanup as well.
    const last = transport(origin);
    await revokeAll(client, issued, last).catch(() => undefined);
    const gone = await unregister(client, last).catch(() => false);
    if (gone) print('✓ Registration deleted');
  }
  print(`✓ ${works}`);
}

/** Whether the site still accepts a token. */
type IsAccepted = (token: string) => Promise<boolean>;

interface Used {
  readonly isAccepted: IsAccepted;
  readonly complete: boolean;
}

/** The default scopes, and those of the addresses to be read, that the site offers; all if the site lists none. */
function offeredScopes(resource: ResourceServer, server: AuthorizationServer, { readable }: Offer): string {
  const offered = [...(server.scopes_supported ?? []), ...(resource.scopes_supported ?? [])];
  const wanted = new Set([...DEFAULT_SCOPE, ...readable.flatMap(({ scopes }) => scopes)]);
  return [...wanted].filter((scope) => offered.length === 0 || offered.includes(scope)).join(' ');
}

/** What the site calls itself in its metadata, or its host. */
function siteOf({ resource_name: name }: ResourceServer, origin: string): string {
  return typeof name === 'string' && name.trim() !== ''
    ? printable(name.trim()).slice(0, LONGEST_NAME)
    : new URL(origin).host;
}

/** Sends the member to the site in a browser, and exchanges the code that comes back for the first tokens. */
async function signIn(run: Run, scope: string): Promise<TokenResponse> {
  const { client, step } = run;
  const callback = await listenForCallback(run.site);
  try {
    const request = await authorizationRequest(client, callback.redirectUri, scope);
    run.print(`Sign in and approve here:\n\n  ${request.url}\n`);
    const response = await step('Waiting for the member', async () => {
      const received = await waitForMember(callback, request, run);
      // Throws, as it does in the next step for every other error.
      if (received.get('error') === 'access_denied') checkResponse(client, request, received);
      return received;
    });
    return await step('Exchanging the code for tokens', async () =>
      exchangeCode(client, request, checkResponse(client, request, response), run.http),
    );
  } finally {
    await callback.close();
  }
}

/**
 * Reads everything that the token opens and prints it. Returns how to find out later whether a token is accepted, and
 * whether everything could be read. Throws ConnectError if nothing accepts the token.
 */
async function useToken(run: Run, { access_token: token, scope }: TokenResponse, asked: string): Promise<Used> {
  const { origin, server, offer, client, http, print, result, signal } = run;
  let working: Place | undefined;
  let complete = true;
  for (const place of placesOf(origin, { server, offer, scopes: (scope ?? asked).split(' ') }, http)) {
    const begin = performance.now();
    try {
      const lines = await place.read(token);
      if (lines === undefined) continue;
      print(`✓ ${place.doing} (${Math.round(performance.now() - begin)} ms)`);
      for (const line of lines) result(line);
      working ??= place;
    } catch (thrown) {
      if (signal?.aborted === true) throw explain(thrown, place.doing);
      const { message, advice } = explain(thrown, place.doing);
      print(`– ${message} ${advice}`);
      complete = false;
    }
  }
  if (working !== undefined) return { isAccepted: (later) => isAcceptedAt(working, later), complete };
  const isActive: IsAccepted = async (later) => (await introspectToken(client, later, http)).active;
  await run.step('Checking that the token is active', async () => {
    if (server.introspection_endpoint !== undefined && (await isActive(token))) return;
    throw new ConnectError(
      'The site issued a token, but nothing there accepts it.',
      'Check that the paths of the gate reach it.',
    );
  });
  return { isAccepted: isActive, complete };
}

async function isAcceptedAt(place: Place, token: string): Promise<boolean> {
  try {
    await place.read(token);
    return true;
  } catch (thrown) {
    if (isTokenRefused(thrown)) return false;
    throw thrown;
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
      { end: 'declined' },
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
async function requireDead({ signal }: Run, token: TokenResponse, isAccepted: IsAccepted): Promise<void> {
  for (let second = 0; second <= REVOCATION_REACH; second += 1) {
    if (second > 0) await sleep(1000, undefined, signal === undefined ? {} : { signal });
    if (!(await isAccepted(token.access_token))) return;
  }
  throw new ConnectError(
    `The site still accepted the token ${REVOCATION_REACH} seconds after it was revoked.`,
    'Members cannot disconnect an app: check that all replicas share one store, and how long they cache.',
  );
}
