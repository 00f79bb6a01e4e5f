import { IncomingMessage, type ServerResponse } from 'node:http';
import type Provider from 'oidc-provider';
import { errors } from 'oidc-provider';
import { GatewayError } from '../errors.ts';
import { mediaType, readBody } from '../http/body.ts';
import type { Exchange, Handler } from '../http/exchange.ts';
import type { ResourceIndicators } from '../oauth/resource-indicator.ts';
import { formatScope } from '../oauth/scope.ts';
import type { Store } from '../storage/store.ts';
import { ENDPOINTS } from './endpoints.ts';
import { refuseBasic } from './rules/client-authentication.ts';
import { normalizeClientMetadata } from './rules/client-metadata.ts';
import { UnitOfWork, withinUnitOfWork } from './unit-of-work.ts';

const FORM_LIMIT = 56 * 1024;
const REGISTRATION_LIMIT = 16 * 1024;

export interface MountOptions {
  readonly provider: Provider;
  readonly origin: string;
  readonly indicators: ResourceIndicators;
  readonly scopes: readonly string[];
  readonly store: Store;
}

/** oidc-provider's endpoints as handlers of ours: what it is given is pinned and normalised, what it writes is one unit. */
export interface Mount {
  readonly plain: Handler;
  readonly authorization: Handler;
  readonly form: Handler;
  readonly registration: Handler;
}

export function mountProvider(options: MountOptions): Mount {
  const { provider, origin, indicators } = options;
  const host = new URL(origin).host;
  const scheme = new URL(origin).protocol.slice(0, -1);
  const scope = formatScope(options.scopes);
  const failures = new WeakMap<IncomingMessage, GatewayError>();

  provider.on('server_error', (ctx, error) => {
    if (error instanceof GatewayError) failures.set(ctx.req, error);
  });
  provider.use(async (ctx, next) => {
    const unit = new UnitOfWork(options.store);
    try {
      if (ctx.path !== ENDPOINTS.token) await next();
      else await withinUnitOfWork(unit, next);
      if (ctx.path === ENDPOINTS.token && ctx.status === 200 && !(await unit.commit())) {
        ctx.status = 400;
        ctx.body = {
          error: 'invalid_grant',
          error_description: new errors.InvalidGrant('lost race').error_description,
        };
      }
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown;
      failures.set(ctx.req, thrown);
    }
    // Our table answers for an ill store: its 503 must not become the library's 500.
    if (failures.has(ctx.req)) ctx.respond = false;
  });
  const callback = provider.callback();

  /** The library builds every URL from these headers, so they say the origin whatever the client said. */
  const pinned = { host, 'x-forwarded-host': host, 'x-forwarded-proto': scheme };

  const run = async (
    exchange: Exchange,
    change: { url?: string; body?: string; contentType?: string } = {},
  ): Promise<void> => {
    const request = replay(exchange.request, { ...change, headers: pinned });
    await callback(request, exchange.response as ServerResponse);
    const failure = failures.get(request);
    if (failure !== undefined) throw failure;
  };

  return {
    plain: (exchange) => run(exchange, { url: exchange.target.path + exchange.target.query }),

    async authorization(exchange) {
      const parameters = normalizeResource(new URLSearchParams(exchange.target.query), indicators);
      await run(exchange, { url: `${exchange.target.path}?${parameters}` });
    },

    async form(exchange) {
      const { request } = exchange;
      refuseBasic(request.headers.authorization, origin);
      if (mediaType(request.headers['content-type']) !== 'application/x-www-form-urlencoded') {
        throw new GatewayError('invalid_request', { message: 'the body must be application/x-www-form-urlencoded' });
      }
      const body = (await readBody(request, FORM_LIMIT)).toString('utf8');
      await run(exchange, {
        body: normalizeResource(new URLSearchParams(body), indicators).toString(),
        contentType: 'application/x-www-form-urlencoded',
      });
    },

    async registration(exchange) {
      const { request } = exchange;
      if (mediaType(request.headers['content-type']) !== 'application/json') {
        throw new GatewayError('invalid_request', { message: 'the body must be application/json' });
      }
      const metadata = parseObject(await readBody(request, REGISTRATION_LIMIT));
      await run(exchange, {
        body: JSON.stringify(normalizeClientMetadata(metadata, scope)),
        contentType: 'application/json',
      });
    },
  };
}

/** Every spelling of our resource becomes the one that is stored, so that a client may mix them (RFC 8707 §2). */
function normalizeResource(parameters: URLSearchParams, indicators: ResourceIndicators): URLSearchParams {
  const resources = parameters.getAll('resource').filter((value) => value !== '');
  parameters.delete('resource');
  for (const resource of new Set(resources.map((value) => indicators.audienceOf(value) ?? value))) {
    parameters.append('resource', resource);
  }
  return parameters;
}

function parseObject(body: Buffer): Record<string, unknown> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString('utf8'));
  } catch (thrown) {
    throw new GatewayError('invalid_request', { message: 'the body is not JSON', cause: thrown });
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new GatewayError('invalid_request', { message: 'the body must be a JSON object of client metadata' });
  }
  return parsed as Record<string, unknown>;
}

/** The same request for a second reader: other URL, headers and body, on the same connection. */
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
  // Incomplete, its end would close the connection under the answer.
  copy.complete = true;
  return copy;
}
