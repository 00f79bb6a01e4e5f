import type { Config } from '../config/schema.ts';
import { GatewayError } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import { isEventStream } from './answer-stream.ts';
import { type BodyLimits, refuseLargeAnswer, refuseLargeRequest } from './body-limit.ts';
import { deliver } from './delivery.ts';
import { asksForWebSocket, requestFraming } from './framing.ts';
import { type HeaderPolicy, headerPolicy, requestHeaders, responseHead } from './headers.ts';
import type { Identity } from './identity.ts';
import type { Pools } from './pools.ts';
import type { Rewrite } from './rewrite.ts';
import { uploadOf, wholeBody } from './upload.ts';

/**
 * Sends an admitted request to an upstream and its answer to the client, streaming both ways. In: the exchange, with
 * the target that was judged and who it acts for, the upstream's name, how large both bodies may be, and what the path
 * is called there.
 * Throws GatewayError only while nothing has been written: `upstream_unreachable`, `upstream_timeout`,
 * `upstream_invalid`, `upstream_overloaded`, `upstream_unavailable`, `invalid_request`, `method_not_allowed`,
 * `payload_too_large`. After that a failure cuts the connection.
 */
export type Forward = (exchange: Exchange, upstream: string, limits: BodyLimits, rewrite?: Rewrite) => Promise<void>;

/** The protected lane: undici's dispatcher under the header policy. */
export function createForward(options: {
  upstreams: Config['upstreams'];
  pools: Pools;
  identity: Identity;
  /** Our public origin. */
  origin: string;
}): Forward {
  const { upstreams, origin, pools } = options;
  const policies = new Map(
    Object.keys(upstreams).map((name) => [
      name,
      headerPolicy({ lane: 'protected', upstreams, name, origin, ownCookie: () => true }),
    ]),
  );

  return async (exchange, upstreamName, limits, rewrite) => {
    const { request, response, target, principal, provenance, record, ownFields, replacement } = exchange;
    if (asksForWebSocket(request)) {
      throw new GatewayError('invalid_request', { message: 'This address does not take WebSockets.' });
    }
    const framing = requestFraming(request);
    refuseLargeRequest(framing, limits.request);
    const upstream = pools.get(upstreamName);
    const policy = policies.get(upstreamName) as HeaderPolicy;
    const known = options.identity(principal, upstreamName, upstream.identity);
    const identity = known instanceof Promise ? await known : known;

    const headers = requestHeaders((replacement ?? request).rawHeaders, provenance, policy.request);
    if (replacement !== undefined) headers.push('Content-Length', String(replacement.body.length));
    else if (framing.kind === 'length') headers.push('Content-Length', framing.length);
    for (const name in identity) headers.push(name, identity[name] as string);

    record.asks(upstreamName);
    await deliver({
      upstream,
      request: {
        method: request.method ?? 'GET',
        path: upstream.pathOf(rewrite === undefined ? target : { ...target, path: rewrite.inward(target.path) }),
        servername: policy.servername,
        headers,
        body:
          replacement !== undefined
            ? wholeBody(replacement.body)
            : framing.kind === 'none'
              ? null
              : uploadOf(request, limits.request),
      },
      response,
      limit: limits.response,
      head: (status, raw) => {
        record.answered(isEventStream(raw));
        refuseLargeAnswer(request.method ?? 'GET', status, raw, limits.response);
        const head = responseHead(status, raw, policy.response, principal.kind === 'member');
        if (rewrite !== undefined) restoreLocation(head.fields, rewrite, origin);
        head.fields.push(...ownFields);
        return head;
      },
    });
  };
}

/** A Location inside the upstream is told by the name it has here. Changes `fields`, which has names and values in turn. */
function restoreLocation(fields: string[], rewrite: Rewrite, origin: string): void {
  for (let at = 0; at + 1 < fields.length; at += 2) {
    if (fields[at]?.toLowerCase() !== 'location') continue;
    const [, ours = '', path = '', rest = ''] =
      /^(https?:\/\/[^/?#]*)?(\/[^?#]*)(.*)$/.exec(fields[at + 1] ?? '') ?? [];
    const here = ours === '' || ours === origin ? rewrite.outward(path) : undefined;
    if (here !== undefined) fields[at + 1] = ours + here + rest;
  }
}
