import type * as oauth from 'oauth4webapi';
import { type App, type AuthorizationRequest, authorizationRequest, postForm, redeem } from './app.ts';
import { type Browser, createBrowser } from './browser.ts';
import { approve, offeredScopes, SAM } from './member.ts';

type Credentials = { login: string; password: string };

export interface ConnectOptions {
  readonly member?: Credentials;
  /** Parameters of the authorization request; undefined omits one. */
  readonly parameters?: Record<string, string | undefined>;
  /** The boxes the member ticks; all of them by default. */
  readonly ticked?: string[];
  /** May already be signed in; a new one by default. */
  readonly browser?: Browser;
}

/** An approved authorization whose code has not been redeemed yet. */
export interface Approved {
  readonly request: AuthorizationRequest;
  readonly returned: URL;
  /** The token request that would succeed. */
  readonly form: Record<string, string>;
}

export async function approved(app: App, options: ConnectOptions = {}): Promise<Approved> {
  const request = await authorizationRequest(app, options.parameters);
  const returned = await approve(request.url, app.redirectUri, {
    member: options.member ?? SAM,
    ...(options.ticked === undefined ? {} : { scopes: options.ticked }),
    ...(options.browser === undefined ? {} : { browser: options.browser }),
  });
  const form = {
    grant_type: 'authorization_code',
    client_id: app.client.client_id,
    ...(app.client.client_secret === undefined ? {} : { client_secret: String(app.client.client_secret) }),
    code: returned.searchParams.get('code') ?? '',
    redirect_uri: app.redirectUri,
    code_verifier: request.verifier,
    resource: app.resource,
  };
  return { request, returned, form };
}

/** Runs the whole flow and returns the tokens. */
export async function connect(app: App, options: ConnectOptions = {}): Promise<oauth.TokenEndpointResponse> {
  const { request, returned } = await approved(app, options);
  return redeem(app, request, returned);
}

/** The same for a member whom these cookies sign in at the site, and what the consent page showed. */
export async function connectSignedIn(
  app: App,
  cookies: Readonly<Record<string, string>>,
  parameters: ConnectOptions['parameters'] = {},
): Promise<{ readonly tokens: oauth.TokenEndpointResponse; readonly consent: string }> {
  const request = await authorizationRequest(app, parameters);
  const browser = createBrowser();
  for (const [name, value] of Object.entries(cookies)) browser.cookies.set(name, { value, path: '/' });
  const page = await browser.open(request.url);
  const fields = { decision: 'approve', scope: offeredScopes(page) };
  const last = await browser.submit(page, fields, (location) => !location.startsWith(app.redirectUri));
  return { tokens: await redeem(app, request, new URL(last.location ?? '')), consent: page.text };
}

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly scope: string;
}

/** A response, read once. */
export interface Answered<T = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

export async function read<T = Record<string, unknown>>(response: Response): Promise<Answered<T>> {
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: (text === '' ? {} : JSON.parse(text)) as T };
}

/** Sends a token request directly, without the library. */
export async function token(
  app: App,
  form: Record<string, string | undefined>,
  headers: Record<string, string> = {},
): Promise<Answered<Tokens & { error?: string; error_description?: string }>> {
  return read(await postForm(app.server.token_endpoint, form, headers));
}

export function refreshForm(
  app: App,
  refreshToken: string | undefined,
  extra: Record<string, string | undefined> = {},
): Record<string, string | undefined> {
  return {
    grant_type: 'refresh_token',
    client_id: app.client.client_id,
    ...(app.client.client_secret === undefined ? {} : { client_secret: String(app.client.client_secret) }),
    refresh_token: refreshToken,
    resource: app.resource,
    ...extra,
  };
}

/** The status of a route that accepts any valid token: tells whether an access token still works. */
export async function statusOf(origin: string, accessToken: string): Promise<number> {
  const response = await fetch(`${origin}/api/v1/whoami`, { headers: { authorization: `Bearer ${accessToken}` } });
  await response.arrayBuffer();
  return response.status;
}
