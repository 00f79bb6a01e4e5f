/**
 * Dynamic client registration (RFC 7591) and its management (RFC 7592): limits, checks and storage of registered
 * clients. oidc-provider creates the client with its id, secret and registration access token.
 */

import type { IncomingMessage } from 'node:http';
import type Provider from 'oidc-provider';
import { GatewayError } from '../../errors.ts';
import { json, writeAnswer } from '../../http/answer.ts';
import { mediaType, readBody } from '../../http/body.ts';
import type { StepFacts } from '../../http/connection-step.ts';
import type { Exchange } from '../../http/exchange.ts';
import { isSameSecret } from '../../http/same-secret.ts';
import { shownRedirectUri } from '../connection-steps.ts';
import type { PassedBody } from '../pass-on.ts';
import { clientNameProblem } from '../rules/client-members.ts';
import { clientMetadataProblem, type MetadataProblem, normalizeClientMetadata } from '../rules/client-metadata.ts';
import type { RedirectPolicy } from '../rules/redirect-uri.ts';
import { parseClientMetadata } from './body.ts';
import type { RegistrationLimits } from './limits.ts';

/** Told to apps while registration is closed by the operator. */
export const NO_NEW_APPS =
  'no new apps are accepted at the moment; apps that are connected already keep working. Ask the school';

export interface RegistrationOptions {
  /** The token that an app needs to register; undefined if none is required. */
  readonly initialAccessToken: string | undefined;
  readonly redirects: RedirectPolicy;
  readonly limits: RegistrationLimits;
}

export interface RegistrationParts extends RegistrationOptions {
  /** Since when the operator has closed registration; undefined while it is open. */
  readonly closedSince: () => Promise<number | undefined>;
  /** The provider that answers now. */
  readonly provider: () => Provider;
  readonly origin: string;
  /** The scope that every client is registered with. */
  readonly scope: string;
  /** Passes a request on to oidc-provider, with this body. */
  readonly run: (exchange: Exchange, url: string, body?: PassedBody) => Promise<void>;
}

const LIMIT = 16 * 1024;
const LONGEST_SHOWN = 100;
const MOST_SHOWN = 5;

/** Members that RFC 7592 section 2.2 forbids in an update, or requires to match. oidc-provider checks them. */
const UPDATE_ONLY = [
  'client_secret',
  'client_secret_expires_at',
  'client_id_issued_at',
  'registration_access_token',
  'registration_client_uri',
];

export function createRegistration(parts: RegistrationParts) {
  return {
    /** RFC 7591: POST to the registration endpoint. */
    register: (exchange: Exchange) => register(parts, exchange),
    /** RFC 7592: GET, PUT and DELETE at the client's own configuration endpoint. */
    manage: (exchange: Exchange) => manage(parts, exchange),
  };
}

async function register(parts: RegistrationParts, exchange: Exchange): Promise<void> {
  const { request, target, provenance, record } = exchange;
  record.noteStep('registration');
  const sent = await readMetadata(request);
  record.noteStep('registration', shownMetadata(sent));
  if (!matches(bearerToken(request), parts.initialAccessToken))
    return refuseToken(parts, exchange, 'registration here needs the initial access token that the school hands out');
  // RFC 7591 has no code for this: access_denied is what clients of OAuth know (RFC 6749 section 4.1.2.1).
  if ((await parts.closedSince()) !== undefined)
    return refuse(exchange, { error: 'access_denied', description: NO_NEW_APPS }, 403);
  const metadata = normalizeClientMetadata(sent, parts.scope);
  const problem = clientMetadataProblem(metadata, parts.redirects);
  if (problem !== undefined) return refuse(exchange, problem);
  parts.limits(provenance.clientAddress);
  await parts.run(exchange, target.path, asJson(metadata));
}

async function manage(parts: RegistrationParts, exchange: Exchange): Promise<void> {
  const token = bearerToken(exchange.request);
  if (token === undefined) return refuseToken(parts, exchange, 'send the registration access token of this client');
  if (exchange.request.method === 'PUT') await update(parts, exchange, token);
  else await parts.run(exchange, exchange.target.path);
}

async function update(parts: RegistrationParts, exchange: Exchange, token: string): Promise<void> {
  const { scope, redirects, run } = parts;
  const { path } = exchange.target;
  const sent = await readMetadata(exchange.request);
  const registered = await clientOf(parts.provider(), path, token);
  // An unauthorized request learns nothing about the client, not even whether its body would be accepted.
  if (registered === undefined) return run(exchange, path, asJson({}));
  const { tokenEndpointAuthMethod: method, idTokenSignedResponseAlg: algorithm } = registered;
  const kept = (name: string, value: unknown) => ({ [name]: sent[name] === '' ? value : (sent[name] ?? value) });
  const metadata = normalizeClientMetadata(
    { ...sent, ...kept('token_endpoint_auth_method', method), ...kept('id_token_signed_response_alg', algorithm) },
    scope,
  );
  const problem = clientMetadataProblem(metadata, redirects) ?? methodChange(metadata, method);
  if (problem !== undefined) return refuse(exchange, problem);
  const extra = UPDATE_ONLY.filter((name) => Object.hasOwn(sent, name)).map((name) => [name, sent[name]]);
  await run(exchange, path, asJson({ ...metadata, ...Object.fromEntries(extra) }));
}

/** What may be recorded of a registration: the name, where it sends members, and how the app authenticates. */
function shownMetadata(sent: Record<string, unknown>): StepFacts {
  const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, LONGEST_SHOWN) : undefined);
  const method = text(sent.token_endpoint_auth_method);
  const uris = Array.isArray(sent.redirect_uris) ? sent.redirect_uris.filter((uri) => typeof uri === 'string') : [];
  return {
    // A name that is refused could pose as another one where it is shown.
    clientName: clientNameProblem(sent.client_name) === undefined ? String(sent.client_name) : undefined,
    parameters: {
      redirect_uris: uris.slice(0, MOST_SHOWN).map(shownRedirectUri).join(' '),
      ...(method === undefined ? {} : { token_endpoint_auth_method: method }),
    },
  };
}

function asJson(body: object): PassedBody {
  return { type: 'application/json', text: JSON.stringify(body) };
}

async function readMetadata(request: IncomingMessage): Promise<Record<string, unknown>> {
  if (mediaType(request.headers['content-type']) !== 'application/json')
    throw new GatewayError('invalid_request', { message: 'the body must be application/json' });
  return parseClientMetadata(await readBody(request, LIMIT));
}

/** The client, if the registration access token and the path name the same one. */
async function clientOf(provider: Provider, path: string, token: string) {
  const known = await provider.RegistrationAccessToken.find(token);
  const id = path.slice(path.lastIndexOf('/') + 1);
  return known?.clientId === undefined || known.clientId !== id ? undefined : provider.Client.find(id);
}

/**
 * An update must not weaken the client's authentication, nor give a secret to a public client, which cannot keep it.
 */
function methodChange(metadata: Record<string, unknown>, registered: string | undefined): MetadataProblem | undefined {
  if (metadata.token_endpoint_auth_method === registered) return undefined;
  const description = `token_endpoint_auth_method: is ${registered} and cannot be changed: register another client`;
  return { error: 'invalid_client_metadata', description };
}

function refuse(
  { response, record }: Exchange,
  { error, description }: Readonly<Record<keyof MetadataProblem, string>>,
  status = 400,
  headers: Readonly<Record<string, string>> = {},
): void {
  record.refusedWith(error);
  record.explainStep({ error, description });
  const body = { error, error_description: description };
  writeAnswer(response, json(status, body, { 'cache-control': 'no-store', ...headers }));
}

function refuseToken({ origin }: RegistrationParts, exchange: Exchange, description: string): void {
  const error = 'invalid_token';
  refuse(exchange, { error, description }, 401, { 'www-authenticate': `Bearer realm="${origin}", error="${error}"` });
}

function bearerToken(request: IncomingMessage): string | undefined {
  return /^Bearer ([A-Za-z0-9._~+/-]+=*)$/i.exec(request.headers.authorization ?? '')?.[1];
}

function matches(given: string | undefined, expected: string | undefined): boolean {
  if (expected === undefined) return true;
  return given !== undefined && isSameSecret(given, expected);
}
