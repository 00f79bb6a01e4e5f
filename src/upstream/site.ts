import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { createProxyMiddleware } from 'http-proxy-middleware';
import type { Config } from '../config/schema.ts';
import type { RequestRecord } from '../http/request-record.ts';
import { forgottenByServer } from './forgotten-by-server.ts';
import { requestFraming } from './framing.ts';
import { headerPolicy, requestHeaders } from './headers.ts';
import { pathPrefix } from './location.ts';
import type { Upstream } from './pools.ts';
import { createSiteAgent } from './site-agent.ts';
import { SiteExchange } from './site-exchange.ts';
import type { Target } from './target.ts';
import { createTunnels } from './tunnel.ts';

/** The legacy site itself: pages, assets, WebSockets; everything that is not a protected resource. */
export interface Site {
  /**
   * Passes a request on. Sets `request.url` and `request.headers` to what the upstream is sent. Throws as documented on
   * `Forward`.
   * @param ownFields fields that are added to the site's response
   */
  handle(
    request: IncomingMessage,
    response: ServerResponse,
    target: Target,
    record: RequestRecord,
    ownFields: readonly string[],
    options?: SiteOptionsOfOne,
  ): Promise<void>;
  /** Passes a WebSocket on. Never throws: errors are answered on the socket. `told` is called with the status sent. */
  upgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    target: Target,
    record: RequestRecord,
    told: (status: number) => void,
  ): void;
  /** Closes the WebSockets, which would never end by themselves; requests continue. */
  hangUp(): void;
  /** Closes every connection to the site, including tunnels. */
  close(): void;
}

interface SiteOptionsOfOne {
  /** Whether to pass a bearer token on, because it is known not to be ours. */
  readonly foreignToken: boolean;
}

export interface SiteOptions {
  readonly upstreams: Config['upstreams'];
  /** The name of the upstream that is the site. */
  readonly name: string;
  /** The same upstream as on the protected lane: both lanes count towards the same limits. */
  readonly upstream: Pick<Upstream, 'admission' | 'timeouts'>;
  /** Our public origin. */
  readonly origin: string;
  /** Matches the gate's own cookies. */
  readonly ownCookie: (name: string) => boolean;
}

/**
 * The site lane, on http-proxy-middleware. Its default plugins are removed, because the error plugin writes its text
 * into half-sent responses and ends them as if they were complete. The agent is ours: the default one queues beyond 256
 * sockets, which as many event streams would use up. We write the responses (`selfHandleResponse`), with the same
 * header policy as everywhere.
 */
export function createSite(options: SiteOptions): Site {
  const policy = headerPolicy({ lane: 'site', ...options });
  const [upstreamUrl] = policy.response.internal;
  const passing = { ...policy.request, foreignToken: true };
  const { admission, timeouts } = options.upstream;
  const timeout = timeouts.head;
  const agent = createSiteAgent({ url: upstreamUrl, servername: policy.servername, connectTimeout: timeouts.connect });
  const pathOf = (target: Target) => pathPrefix(upstreamUrl) + target.path + target.query;

  const forgotten = forgottenByServer();
  const exchanges = new WeakMap<IncomingMessage, SiteExchange>();
  const proxy = createProxyMiddleware({
    target: new URL(upstreamUrl.origin),
    agent,
    ejectPlugins: true,
    selfHandleResponse: true,
    plugins: [
      (server) => {
        server.on('proxyReq', (outgoing, request) => exchanges.get(request)?.onOutgoing(outgoing));
        server.on('proxyRes', (answer, request) => exchanges.get(request)?.onAnswer(answer));
        server.on('error', (error, request) => request !== undefined && exchanges.get(request)?.fail(error));
      },
    ],
  });

  const tunnels = createTunnels({
    upstreamUrl,
    timeout,
    idle: Math.max(1, Math.round((options.upstreams[options.name]?.tunnelTimeout ?? 0) * 1000)),
    responsePolicy: policy.response,
    servername: policy.servername,
    headersOf: (request, provenance) => requestHeaders(request.rawHeaders, provenance, policy.request),
    pathOf,
  });

  return {
    async handle(request, response, target, record, ownFields, { foreignToken } = OURS) {
      const framing = requestFraming(request);
      const fields = requestHeaders(request.rawHeaders, record.provenance, foreignToken ? passing : policy.request);
      // Framing is set explicitly, never derived: a body without it would be read as another request.
      if (framing.kind === 'length') fields.push('content-length', framing.length);
      if (framing.kind === 'chunked') fields.push('transfer-encoding', 'chunked');
      request.headers = headersOf(fields);
      request.url = pathOf(target);
      const send = (failed: (error: unknown) => void) =>
        void forgotten(request, () => proxy(request, response, failed)).catch(failed);
      const visit = admission.enter(request.headers.accept === 'text/event-stream');
      const exchange = new SiteExchange({
        response,
        timeout,
        visit,
        responsePolicy: policy.response,
        ownFields,
        send,
        hasBody: framing.kind !== 'none',
        answered: (streaming, contentType) => {
          record.mediaType = mediaTypeOf(contentType);
          record.answered(streaming);
        },
      });
      record.asks(options.name);
      exchanges.set(request, exchange);
      await exchange.run();
    },
    upgrade(request, socket, head, target, record, told) {
      record.asks(options.name);
      tunnels.open(request, socket, head, target, record.provenance, told);
    },
    hangUp: () => tunnels.hangUp(),
    close() {
      agent.destroy();
      tunnels.close();
    },
  };
}

/** By default a bearer token is meant for us. */
const OURS: SiteOptionsOfOne = { foreignToken: false };

/** Without parameters, in lower case, and cut to the maximum length of a registered type. */
function mediaTypeOf(contentType: string): string {
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase().slice(0, 127);
}

/** The format that http-proxy-middleware reads; without a prototype, because clients choose the names. */
function headersOf(fields: readonly string[]): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = Object.create(null);
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const name = (fields[at] as string).toLowerCase();
    const value = fields[at + 1] as string;
    const before = headers[name];
    headers[name] = before === undefined ? value : Array.isArray(before) ? [...before, value] : [before, value];
  }
  return headers;
}
