import { type CallbackServer, listenForCallback } from './callback-server.ts';
import { ConnectError } from './connect-error.ts';
import { authorizationRequest, checkResponse } from './oauth/authorization.ts';
import { type AuthorizationServer, discoverResource, discoverServer, type ResourceServer } from './oauth/discovery.ts';
import { explain } from './oauth/explain.ts';
import { type RegisteredClient, register, unregister } from './oauth/registration.ts';
import { exchangeCode, revokeToken, type TokenResponse } from './oauth/tokens.ts';
import { gateOrigin, type Transport, transport } from './oauth/transport.ts';
import { type Offer, readOffer } from './offer.ts';
import { printable } from './printable.ts';

export interface ConnectOptions {
  /** The site: its origin, or any address under it. */
  readonly url: string;
  /** Space-separated; by default, those for reading that the site offers and the addresses to be read need. */
  readonly scope?: string | undefined;
  /** What the client calls itself. */
  readonly name?: string;
  /** Scopes to ask for if the site offers them, openid and those for reading by default. */
  readonly wanted?: readonly string[];
  /** How many addresses of the site are read, 3 by default. */
  readonly mostRead?: number;
  /** Opens a browser. It may fail, since the URL is also printed. */
  readonly open?: ((url: string) => void | Promise<void>) | undefined;
  /** Prints progress, one line at a time. */
  readonly print: (line: string) => void;
  /** Shows that a step goes on. Returns a function that removes it. */
  readonly wait?: ((what: string) => () => void) | undefined;
  /** Prints the result, one line at a time. */
  readonly result: (line: string) => void;
  /** Seconds to wait for the member, 300 by default. */
  readonly timeout?: number;
  /** Aborts the run. Registration and tokens are still cleaned up. */
  readonly signal?: AbortSignal;
}

type RunStep = <T>(doing: string, work: () => Promise<T>) => Promise<T>;

/** What the steps after the registration share. */
export interface Run extends ConnectOptions {
  readonly origin: string;
  readonly server: AuthorizationServer;
  readonly offer: Offer;
  /** The site's name for people. */
  readonly site: string;
  readonly client: RegisteredClient;
  readonly step: RunStep;
  readonly http: Transport;
}

const DEFAULT_SCOPE = ['openid', 'account:read', 'courses:read'];
/** In characters. */
const LONGEST_NAME = 100;

/** A member who has signed in and approved. */
export interface MemberConnection {
  readonly run: Run;
  /** The scopes that were asked for. */
  readonly scope: string;
  readonly first: TokenResponse;
  /** What `close` revokes. */
  readonly issued: TokenResponse[];
  /** Revokes the tokens and deletes the registration. Resolves to whether it is deleted. */
  close(): Promise<boolean>;
}

/**
 * Discovers a site, registers a client, and waits for the member. Throws ConnectError when a step fails, the member
 * denies access, time runs out or `signal` aborts; nothing is left behind then.
 */
export async function openConnection(options: ConnectOptions): Promise<MemberConnection> {
  const { print, signal } = options;
  const origin = gateOrigin(options.url);
  const step = steps(print, options.wait);
  const http = transport(origin, { signal });

  const resource = await step('Finding the protected resource', () => discoverResource(origin, http));
  const server = await step('Finding the authorization server', () => discoverServer(resource, http));
  const offer = await step('Finding what the site offers', () => readOffer(origin, http, options.mostRead));
  if (!offer.described) print('– /openapi.json describes no API here. Trying the usual addresses.');
  const description = { name: options.name ?? 'coursegate connect', redirectUri: 'http://127.0.0.1/callback' };
  const client = await step('Registering as a public client', () => register(server, resource, description, http));
  const run: Run = { ...options, origin, server, offer, site: siteOf(resource, origin), client, step, http };
  const issued: TokenResponse[] = [];
  const close = async (): Promise<boolean> => {
    // With a transport of its own: an aborted signal would abort the cleanup as well.
    const last = transport(origin);
    await revokeAll(client, issued, last).catch(() => undefined);
    return unregister(client, last).catch(() => false);
  };
  try {
    const scope = options.scope ?? offeredScopes(resource, server, offer, options.wanted);
    const first = await signIn(run, scope);
    issued.push(first);
    return { run, scope, first, issued, close };
  } catch (thrown) {
    if (await close()) print('✓ Registration deleted');
    throw thrown;
  }
}

/** Runs steps and prints each with its duration. Errors become ConnectErrors. */
function steps(print: (line: string) => void, wait: ((what: string) => () => void) | undefined): RunStep {
  return async (doing, work) => {
    const begin = performance.now();
    const shown = wait?.(doing);
    try {
      const value = await work().finally(shown);
      print(`✓ ${doing} (${Math.round(performance.now() - begin)} ms)`);
      return value;
    } catch (thrown) {
      const failure = explain(thrown, doing);
      print(`${failure.end === 'declined' || failure.end === 'interrupted' ? '–' : '✗'} ${doing}`);
      throw failure;
    }
  };
}

/** The default scopes, and those of the addresses to be read, that the site offers; all if the site lists none. */
function offeredScopes(
  resource: ResourceServer,
  server: AuthorizationServer,
  { readable }: Offer,
  asked: readonly string[] = DEFAULT_SCOPE,
): string {
  const offered = [...(server.scopes_supported ?? []), ...(resource.scopes_supported ?? [])];
  const wanted = new Set([...asked, ...readable.flatMap(({ scopes }) => scopes)]);
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
    run.print(`Sign in and approve here:\n\n  ${callback.start}\n`);
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

async function waitForMember(
  callback: CallbackServer,
  request: Parameters<CallbackServer['receive']>[0],
  { open, timeout = 300, signal }: ConnectOptions,
): Promise<URLSearchParams> {
  const late = AbortSignal.timeout(timeout * 1000);
  const received = callback.receive(request, signal === undefined ? late : AbortSignal.any([signal, late]));
  // Opening the browser may be slow or fail. Neither matters: the URL has been printed.
  Promise.resolve(request.url)
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

/** Revokes all tokens, newest first: revoking a refresh token revokes its whole family. */
export async function revokeAll(
  client: RegisteredClient,
  issued: readonly TokenResponse[],
  http: Transport,
): Promise<void> {
  const tokens = [issued.at(-1)?.refresh_token, ...issued.map((answer) => answer.access_token).reverse()];
  for (const token of tokens) if (token !== undefined) await revokeToken(client, token, http);
}
