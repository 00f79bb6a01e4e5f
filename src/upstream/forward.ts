import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Config } from '../config/schema.ts';
import { GatewayError } from '../errors.ts';
import type { Principal } from '../oauth/principal.ts';
import { deliver } from './delivery.ts';
import { asksForWebSocket, requestFraming } from './framing.ts';
import { type RequestPolicy, requestHeaders, responseHeaders } from './headers.ts';
import type { Identity } from './identity.ts';
import type { Pools } from './pools.ts';
import type { Target } from './target.ts';
import { uploadOf } from './upload.ts';

/**
 * Sends an admitted request to an upstream and its answer to the client, streaming both ways. In: the request, its
 * response, the canonical target that was judged, the upstream's name, and who the request acts for.
 * Throws GatewayError only while nothing has been written: `upstream_unreachable`, `upstream_timeout`,
 * `upstream_invalid`, `invalid_request`, `method_not_allowed`. After that a failure cuts the connection.
 */
export type Forward = (
  request: IncomingMessage,
  response: ServerResponse,
  target: Target,
  upstream: string,
  principal: Principal,
) => Promise<void>;

/** The protected lane: undici's dispatcher under the header policy. */
export function createForward(options: {
  upstreams: Config['upstreams'];
  pools: Pools;
  identity: Identity;
  /** Our public origin. */
  origin: string;
}): Forward {
  const { origin, pools } = options;
  const policy: RequestPolicy = { lane: 'protected', origin: new URL(origin), ownCookie: () => true };

  return async (request, response, target, upstreamName, principal) => {
    if (asksForWebSocket(request)) {
      throw new GatewayError('invalid_request', { message: 'This address does not take WebSockets.' });
    }
    const framing = requestFraming(request);
    const upstream = pools.get(upstreamName);
    const identity = await options.identity(principal, upstreamName, upstream.identity);

    const headers = requestHeaders(request.rawHeaders, request.socket.remoteAddress, policy);
    if (framing.kind === 'length') headers.push('Content-Length', framing.length);
    for (const name in identity) headers.push(name, identity[name] as string);

    await deliver({
      pool: upstream.pool,
      request: {
        method: request.method ?? 'GET',
        path: upstream.pathOf(target),
        headers,
        body: framing.kind === 'none' ? null : uploadOf(request),
      },
      response,
      timeout: upstream.timeout,
      fields: (status, raw) =>
        responseHeaders(status, raw, {
          lane: 'protected',
          origin,
          upstream: upstream.url,
          ownCookie: policy.ownCookie,
          member: principal.kind === 'member',
        }),
    });
  };
}
