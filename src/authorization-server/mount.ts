import type { IncomingMessage } from 'node:http';
import type Provider from 'oidc-provider';
import { GatewayError } from '../errors.ts';
import { mediaType, readBody } from '../http/body.ts';
import type { Exchange } from '../http/exchange.ts';
import type { ResourceIndicators } from '../oauth/resource-indicator.ts';
import { shownClientId, shownParameters, stepAt } from './connection-steps.ts';
import { ENDPOINTS } from './endpoints.ts';
import { redirect } from './pages/pages.ts';
import { type PassedBody, passOn } from './pass-on.ts';
import { createRegistration, type RegistrationOptions, type RegistrationParts } from './registration/registration.ts';
import { addClient, basicClient, requireClient } from './rules/client-authentication.ts';
import { refuseLongParameters } from './rules/parameter-lengths.ts';

const FORM_LIMIT = 56 * 1024;
/** As long as a URL may be, because a posted authorization request becomes one. */
const POSTED_LIMIT = 8 * 1024;
/** Pushed requests larger than this are answered 413 (RFC 9126 section 2.3). Unlike other forms, they are stored. */
const PUSHED_LIMIT = 16 * 1024;
const FORM = 'application/x-www-form-urlencoded';

export interface MountOptions extends Pick<RegistrationParts, 'closedSince' | 'provider' | 'origin' | 'scope'> {
  /** The provider's request handler. */
  readonly callback: () => ReturnType<Provider['callback']>;
  /** Where browsers make and resume authorization requests: `origin`, or that of `pages.origin`. */
  readonly pagesOrigin: string;
  readonly indicators: ResourceIndicators;
  /** Undefined if registration is closed. */
  readonly registration: RegistrationOptions | undefined;
}

/** oidc-provider's endpoints as handlers. Their input is pinned to the origin and normalised. */
export function mountProvider(options: MountOptions) {
  const run = (exchange: Exchange, url: string, body?: PassedBody) => passOn(options, exchange, url, body);
  return {
    plain: (exchange: Exchange) => plain(options, exchange),
    authorization: (exchange: Exchange) => authorize(options, exchange),
    postedAuthorization: authorizeByForm,
    resume: (exchange: Exchange) => resume(options, exchange),
    form: (exchange: Exchange) => submit(options, exchange),
    registration: options.registration && createRegistration({ ...options, ...options.registration, run }),
  };
}

export type Mount = ReturnType<typeof mountProvider>;

async function plain(options: MountOptions, exchange: Exchange): Promise<void> {
  // Cacheable: a new signing key is published long before it signs. A removed key must be gone within a minute, and a
  // replica may take some seconds to notice.
  const seconds = exchange.target.path === ENDPOINTS.jwks ? 45 : 300;
  exchange.response.setHeader('cache-control', `public, max-age=${seconds}`);
  noteEndpoint(exchange);
  await passOn(options, exchange, exchange.target.path + exchange.target.query);
}

async function authorize(options: MountOptions, exchange: Exchange): Promise<void> {
  const parameters = new URLSearchParams(exchange.target.query);
  noteEndpoint(exchange, parameters);
  refuseLongParameters(parameters);
  await passOnNavigation(options, exchange, `?${normalizeResource(parameters, options.indicators)}`);
}

/**
 * POST is answered as GET is (OpenID Connect Core section 3.1.2.1), by sending the browser there. It then sends its
 * cookies, which it holds back from a POST by another site (SameSite), and the page that follows was requested by GET.
 */
async function authorizeByForm({ request, response, target }: Exchange): Promise<void> {
  const parameters = await readForm(request, POSTED_LIMIT);
  refuseLongParameters(parameters);
  redirect(response, `${target.path}?${parameters}`);
}

async function resume(options: MountOptions, exchange: Exchange): Promise<void> {
  exchange.record.noteStep('code', { page: exchange.target.path.split('/')[3] });
  await passOnNavigation(options, exchange, exchange.target.query);
}

async function passOnNavigation(options: MountOptions, exchange: Exchange, query: string): Promise<void> {
  // The response may carry a code, and with form_post it is a page (RFC 9700 sections 4.2.4 and 4.16).
  exchange.response.setHeader('referrer-policy', 'no-referrer');
  exchange.response.setHeader('x-frame-options', 'DENY');
  exchange.response.setHeader('content-security-policy', "frame-ancestors 'none'");
  await passOn({ ...options, origin: options.pagesOrigin }, exchange, exchange.target.path + query);
}

async function submit(options: MountOptions, exchange: Exchange): Promise<void> {
  const { request, response, target } = exchange;
  noteEndpoint(exchange);
  const basic = basicClient(request.rawHeaders, options.origin);
  const pushed = target.path === ENDPOINTS.pushedAuthorization;
  const parameters = await readForm(request, pushed ? PUSHED_LIMIT : FORM_LIMIT);
  if (basic !== undefined) addClient(parameters, basic);
  noteEndpoint(exchange, parameters);
  if (pushed) refuseLongParameters(parameters);
  if (target.path !== ENDPOINTS.token) requireClient(parameters);
  response.setHeader('cache-control', 'no-store');
  const text = normalizeResource(parameters, options.indicators).toString();
  // oidc-provider takes a field without a secret for a mistake.
  const withheld = basic?.hasSecret === false ? ['authorization'] : [];
  await passOn(options, exchange, request.url ?? '', { type: FORM, text, withheld });
}

async function readForm(request: IncomingMessage, limit: number): Promise<URLSearchParams> {
  if (mediaType(request.headers['content-type']) !== FORM)
    throw new GatewayError('invalid_request', { message: `the body must be ${FORM}` });
  return new URLSearchParams((await readBody(request, limit)).toString('utf8'));
}

/** Notes which step of connecting an app the request is. `parameters` is undefined until they are read. */
function noteEndpoint({ request, record, target }: Exchange, parameters?: URLSearchParams): void {
  const kind = stepAt(target.path);
  if (kind === undefined) return;
  const refreshes = kind === 'token' && parameters?.get('grant_type') === 'refresh_token';
  if (refreshes) record.steps = undefined;
  record.noteStep(refreshes ? 'refresh' : kind, {
    clientId: parameters && shownClientId(parameters),
    parameters: { ...unusualFields(request), ...(parameters && shownParameters(parameters)) },
  });
}

/** Header fields that explain a refusal: another format than a form, the scheme of a client's authentication, DPoP. */
function unusualFields({ method, headers }: IncomingMessage): Record<string, string> {
  const type = mediaType(headers['content-type']);
  // A value without a scheme may be a secret.
  const scheme = /^(?:basic|bearer|dpop) /i.exec(headers.authorization ?? '')?.[0].trim() ?? 'other';
  return {
    ...(method !== 'POST' || type === FORM ? {} : { 'content-type': type.slice(0, 100) || 'none' }),
    ...(headers.authorization === undefined ? {} : { authorization: scheme }),
    ...(headers.dpop === undefined ? {} : { dpop: 'sent' }),
  };
}

/** Replaces each accepted spelling of our resource by the stored one, so clients may mix them (RFC 8707 section 2). */
function normalizeResource(parameters: URLSearchParams, indicators: ResourceIndicators): URLSearchParams {
  const resources = parameters.getAll('resource').filter((value) => value !== '');
  parameters.delete('resource');
  for (const resource of new Set(resources.map((value) => indicators.audienceOf(value) ?? value)))
    parameters.append('resource', resource);
  return parameters;
}
