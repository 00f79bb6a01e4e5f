import { IncomingMessage, type ServerResponse } from 'node:http';
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { GatewayError } from '../errors.ts';
import { mediaType, readBody } from '../http/body.ts';
import type { Exchange, Handler } from '../http/exchange.ts';
import type { Provenance } from '../http/provenance.ts';
import type { ResourceIndicators } from '../oauth/resource-indicator.ts';
import { formatScope } from '../oauth/scope.ts';
import type { AuditAction } from '../operations/audit.ts';
import { clientHost } from './client-host.ts';
import { ENDPOINTS } from './endpoints.ts';
import { createRegistration, type Registration, type RegistrationOptions } from './registration/registration.ts';
import { refuseBasic, requireClient } from './rules/client-authentication.ts';
import { refuseLongParameters } from './rules/parameter-lengths.ts';
import { foreignResource } from './rules/resource.ts';
import { type TokenTransactionOptions, tokenTransaction } from './token-transaction.ts';

const FORM_LIMIT = 56 * 1024;
/** Pushed requests larger than this are answered 413 (RFC 9126 section 2.3). Unlike other forms, they are stored. */
const PUSHED_LIMIT = 16 * 1024;

export interface MountOptions extends Omit<TokenTransactionOptions, 'provenanceOf'> {
  readonly provider: Provider;
  readonly origin: string;
  readonly indicators: ResourceIndicators;
  readonly scopes: readonly string[];
  /** Called with the grant of each active access token that a client or service introspects. */
  readonly introspected: (grantId: string) => void;
  /** Undefined if registration is closed. */
  readonly registration: RegistrationOptions | undefined;
}

/**
 * oidc-provider's endpoints as handlers. Their input is pinned to the origin and normalised, and each token request is
 * one unit of work.
 */
export interface Mount {
  readonly plain: Handler;
  readonly authorization: Handler;
  readonly resume: Handler;
  readonly form: Handler;
  /** Undefined if registration is closed. */
  readonly registration: Registration | undefined;
}

export function mountProvider(options: MountOptions): Mount {
  const { provider, origin, indicators } = options;
  const host = new URL(origin).host;
  const scheme = new URL(origin).protocol.slice(0, -1);
  const scope = formatScope(options.scopes);
  const failures = new WeakMap<IncomingMessage, GatewayError>();
  const protocolErrors = new WeakMap<IncomingMessage, string>();

  provider.on('server_error', (ctx, error) => {
    if (error instanceof GatewayError) failures.set(ctx.req, error);
  });
  provider.on('authorization.error', (ctx, error) => protocolErrors.set(ctx.req, error.error));
  provider.use(async (ctx, next) => {
    try {
      await next();
      const said = (ctx.body as { readonly error?: unknown } | undefined)?.error;
      if (ctx.status >= 400 && typeof said === 'string') protocolErrors.set(ctx.req, said);
      if (ctx.path === ENDPOINTS.token) nameTheResource(ctx, indicators);
      if (ctx.path === ENDPOINTS.introspection) {
        const { oidc, body } = ctx as unknown as KoaContextWithOIDC;
        const grantId = oidc.entities.AccessToken?.grantId;
        if (grantId !== undefined && (body as { active?: boolean }).active === true) options.introspected(grantId);
      }
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown;
      failures.set(ctx.req, thrown);
    }
    // When the store is unavailable, our 503 must not become the library's 500.
    if (failures.has(ctx.req)) ctx.respond = false;
  });
  const provenances = new WeakMap<IncomingMessage, Provenance>();
  const registered = (action: AuditAction) => (ctx: KoaContextWithOIDC, client: { readonly clientId: string }) =>
    options.audit({
      action,
      clientId: client.clientId,
      clientName: (client as { readonly clientName?: string }).clientName,
      clientHost: clientHost(client),
      grantId: undefined,
      member: undefined,
      address: provenances.get(ctx.req)?.clientAddress,
      requestId: provenances.get(ctx.req)?.requestId,
    });
  provider.on('registration_create.success', registered('client_registered'));
  provider.on('registration_update.success', registered('client_updated'));
  provider.on('registration_delete.success', registered('client_deleted'));
  provider.on('authorization.success', (ctx) => {
    const { client, entities, params } = ctx.oidc;
    const code = entities.AuthorizationCode;
    if (code === undefined) return;
    options.audit({
      action: 'code_issued',
      clientId: client?.clientId,
      clientName: client?.clientName,
      clientHost: clientHost({ redirectUris: [String(params?.redirect_uri)] }),
      grantId: code.grantId,
      member: code.accountId,
      address: provenances.get(ctx.req)?.clientAddress,
      requestId: provenances.get(ctx.req)?.requestId,
    });
  });
  tokenTransaction(provider, { ...options, provenanceOf: (request) => provenances.get(request) });
  const callback = provider.callback();

  /**
   * The library builds every URL from these headers, so they are pinned to the origin regardless of what the client
   * sent.
   */
  const pinned = { host, 'x-forwarded-host': host, 'x-forwarded-proto': scheme };

  const run = async (
    exchange: Exchange,
    change: { url?: string; body?: string; contentType?: string } = {},
  ): Promise<void> => {
    const request = replay(exchange.request, { ...change, headers: pinned });
    provenances.set(request, exchange.provenance);
    await callback(request, exchange.response as ServerResponse);
    const failure = failures.get(request);
    if (failure !== undefined) throw failure;
    const error = protocolErrors.get(request);
    if (error !== undefined) exchange.record.refusedWith(error);
  };

  const visit = async (exchange: Exchange, query: string): Promise<void> => {
    // The response may carry a code, and with form_post it is a page (RFC 9700 sections 4.2.4 and 4.16).
    exchange.response.setHeader('referrer-policy', 'no-referrer');
    exchange.response.setHeader('x-frame-options', 'DENY');
    exchange.response.setHeader('content-security-policy', "frame-ancestors 'none'");
    await run(exchange, { url: exchange.target.path + query });
  };

  return {
    async plain(exchange) {
      // Cacheable: a new signing key is published long before it signs. A removed key must be gone within a minute, and
      // a replica may take some seconds to notice.
      const seconds = exchange.target.path === ENDPOINTS.jwks ? 45 : 300;
      exchange.response.setHeader('cache-control', `public, max-age=${seconds}`);
      await run(exchange, { url: exchange.target.path + exchange.target.query });
    },

    async authorization(exchange) {
      const parameters = new URLSearchParams(exchange.target.query);
      refuseLongParameters(parameters);
      await visit(exchange, `?${normalizeResource(parameters, indicators)}`);
    },

    resume: (exchange) => visit(exchange, exchange.target.query),

    async form(exchange) {
      const { request } = exchange;
      refuseBasic(request.headers.authorization, origin);
      if (mediaType(request.headers['content-type']) !== 'application/x-www-form-urlencoded') {
        throw new GatewayError('invalid_request', { message: 'the body must be application/x-www-form-urlencoded' });
      }
      const pushed = exchange.target.path === ENDPOINTS.pushedAuthorization;
      const body = await readBody(request, pushed ? PUSHED_LIMIT : FORM_LIMIT);
      const parameters = new URLSearchParams(body.toString('utf8'));
      if (pushed) refuseLongParameters(parameters);
      if (exchange.target.path !== ENDPOINTS.token) requireClient(parameters);
      exchange.response.setHeader('cache-control', 'no-store');
      await run(exchange, {
        body: normalizeResource(parameters, indicators).toString(),
        contentType: 'application/x-www-form-urlencoded',
      });
    },

    registration:
      options.registration === undefined
        ? undefined
        : createRegistration({ ...options.registration, provider, origin, scope, run }),
  };
}

/** The library's message for an unknown resource does not say which one is accepted. */
function nameTheResource(ctx: { body: unknown }, indicators: ResourceIndicators): void {
  const body = ctx.body as { error?: string; error_description?: string } | undefined;
  if (body?.error !== 'invalid_target' || body.error_description?.includes(indicators.audience)) return;
  ctx.body = { ...body, error_description: foreignResource(indicators) };
}

/** Replaces each accepted spelling of our resource by the stored one, so clients may mix them (RFC 8707 section 2). */
function normalizeResource(parameters: URLSearchParams, indicators: ResourceIndicators): URLSearchParams {
  const resources = parameters.getAll('resource').filter((value) => value !== '');
  parameters.delete('resource');
  for (const resource of new Set(resources.map((value) => indicators.audienceOf(value) ?? value))) {
    parameters.append('resource', resource);
  }
  return parameters;
}

/** Copies a request with a different URL, headers and body for oidc-provider to read, on the same connection. */
function replay(
  request: IncomingMessage,
  change: { url?: string; body?: string; contentType?: string; headers: Record<string, string> },
): IncomingMessage {
  const copy = new IncomingMessage(request.socket);
  copy.method = request.method ?? 'GET';
  copy.url = change.url ?? request.url ?? '/';
  copy.httpVersion = request.httpVersion;
  copy.httpVersionMajor = request.httpVersionMajor;
  copy.httpVersionMinor = request.httpVersionMinor;
  const { 'transfer-encoding': _framing, 'content-length': _length, ...headers } = request.headers;
  copy.headers = { ...headers, ...change.headers };
  if (change.body !== undefined) {
    copy.headers['content-length'] = String(Buffer.byteLength(change.body));
    if (change.contentType !== undefined) copy.headers['content-type'] = change.contentType;
    copy.push(change.body);
  }
  copy.push(null);
  // If the copy were incomplete, its end would close the connection during the response.
  copy.complete = true;
  return copy;
}
