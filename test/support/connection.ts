import type * as oauth from 'oauth4webapi';
import { type App, type AuthorizationRequest, authorizationRequest, postForm, redeem } from './app.ts';
import type { Browser } from './browser.ts';
import { approve, SAM } from './member.ts';

type Credentials = { login: string; password: string };

export interface ConnectOptions {
  readonly member?: Credentials;
  /** Parameters of the authorization request; undefined leaves one out. */
  readonly parameters?: Record<string, string | undefined>;
  /** The boxes the member ticks; all when left out. */
  readonly ticked?: string[];
  /** One that may be signed in; a new one when left out. */
  readonly browser?: Browser;
}

/** An approved authorization whose code nobody has redeemed yet. */
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

/** The whole flow: out come the tokens. */
export async function connect(app: App, options: ConnectOptions = {}): Promise<oauth.TokenEndpointResponse> {
  const { request, returned } = await approved(app, options);
  return redeem(app, request, returned);
}

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly scope: string;
}

/** What an endpoint answered, read once. */
export interface Answered<T = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

export async function read<T = Record<string, unknown>>(response: Response): Promise<Answered<T>> {
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: (text === '' ? {} : JSON.parse(text)) as T };
}

/** A token request as bytes on the wire. */
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

/** Whether an access token opens anything: the status of the route that asks for any valid token. */
export async function statusOf(origin: string, accessToken: string): Promise<number> {
  const response = await fetch(`${origin}/api/v1/whoami`, { headers: { authorization: `Bearer ${accessToken}` } });
  await response.arrayBuffer();
  return response.status;
}
