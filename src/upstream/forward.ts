// Everything between the gate and the backends: connections, limits and circuit breakers, the header policy, identity
// headers and credentials. forward.ts is the protected lane, site.ts the site lane, call.ts the gate's own calls.

import type { Config } from '../config/schema.ts';
import { GatewayError } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import { SESSION_OVER, type SessionOver } from '../oauth/challenge.ts';
import { isEventStream } from './answer-stream.ts';
import { type BodyLimits, refuseLargeAnswer, refuseLargeRequest } from './body-limit.ts';
import { type Attempt, type Credentials, type Disposition, NO_CREDENTIALS } from './credentials/credential.ts';
import { heldBody } from './credentials/held-body.ts';
import { withParameter } from './credentials/parameter.ts';
import { deliver } from './delivery.ts';
import { asksForWebSocket, requestFraming } from './framing.ts';
import { type HeaderPolicy, headerPolicy, requestHeaders, responseHead } from './headers.ts';
import type { Identity } from './identity.ts';
import type { BodyScan } from './method-override/body-scan.ts';
import { methodOverrides } from './method-override/method-override.ts';
import type { Pools } from './pools.ts';
import type { Rewrite } from './rewrite.ts';
import { uploadOf, wholeBody } from './upload.ts';

/**
 * Sends an admitted request to an upstream and its response to the client, streaming both ways.
 *
 * Throws GatewayError, and returns that the member's session is over, only while nothing has been written:
 * `upstream_unreachable`, `upstream_timeout`, `upstream_invalid`, `upstream_overloaded`, `upstream_unavailable`,
 * `method_override`, `unsupported_media_type`, `invalid_request`, `method_not_allowed` or `payload_too_large`. After
 * that a failure cuts the connection.
 * @param exchange the request, with the target that was authorized and the principal it acts for
 * @param limits the maximum sizes of both bodies
 * @param rewrite maps the path to the upstream's path for it
 */
export type Forward = (
  exchange: Exchange,
  upstream: string,
  limits: BodyLimits,
  rewrite?: Rewrite,
) => Promise<SessionOver | undefined>;

/** The protected lane: undici's dispatcher with the header policy. */
export function createForward(options: {
  upstreams: Config['upstreams'];
  pools: Pools;
  identity: Identity;
  /** Credentials for upstreams that do not read our identity headers. */
  credentials?: Credentials;
  /** Our public origin. */
  origin: string;
}): Forward {
  const { upstreams, origin, pools, credentials = NO_CREDENTIALS } = options;
  const policies = new Map(
    Object.keys(upstreams).map((name) => [
      name,
      headerPolicy({ lane: 'protected', upstreams, name, origin, ownCookie: () => true }),
    ]),
  );

  const send = async (
    { request, response, target, principal, provenance, record, ownFields, replacement }: Exchange,
    upstreamName: string,
    limits: BodyLimits,
    rewrite: Rewrite | undefined,
    attempt: Attempt | undefined,
    scan: BodyScan | undefined,
  ): Promise<Disposition> => {
    const framing = requestFraming(request);
    const upstream = pools.get(upstreamName);
    const policy = policies.get(upstreamName) as HeaderPolicy;
    const known = options.identity(principal, upstreamName, upstream.identity);
    const identity = known instanceof Promise ? await known : known;

    const headers = requestHeaders((replacement ?? request).rawHeaders, provenance, policy.request);
    if (replacement !== undefined) headers.push('Content-Length', String(replacement.body.length));
    else if (framing.kind === 'length') headers.push('Content-Length', framing.length);
    for (const name in identity) headers.push(name, identity[name] as string);
    const sent = attempt === undefined ? headers : withFields(headers, attempt.fields);
    const at = rewrite === undefined ? target : { ...target, path: rewrite.inward(target.path) };

    record.asks(upstreamName);
    return deliver({
      upstream,
      request: {
        method: request.method ?? 'GET',
        path: upstream.pathOf(attempt?.query === undefined ? at : withParameter(at, attempt.query)),
        servername: policy.servername,
        headers: sent,
        body:
          replacement !== undefined
            ? wholeBody(replacement.body)
            : framing.kind === 'none'
              ? null
              : uploadOf(request, limits.request, scan),
      },
      response,
      limit: limits.response,
      judge: attempt?.judge,
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

  return async (exchange, upstreamName, limits, rewrite) => {
    const { request, principal } = exchange;
    if (asksForWebSocket(request)) {
      throw new GatewayError('invalid_request', { message: 'This address does not take WebSockets.' });
    }
    const framing = requestFraming(request);
    refuseLargeRequest(framing, limits.request);
    const method = request.method ?? 'GET';
    const overrides = methodOverrides(exchange.admits ?? ((other) => other === method));
    overrides.checkQuery(exchange.target.query);
    const { replacement } = exchange;
    const hasBody = replacement !== undefined || framing.kind !== 'none';
    const scan = hasBody ? overrides.scan((replacement ?? request).rawHeaders) : undefined;
    const credential = credentials(upstreamName);
    if (credential === undefined && scan === undefined) {
      await send(exchange, upstreamName, limits, rewrite, undefined, scan);
      return undefined;
    }

    let attempt = await credential?.attempt(principal, method);
    if (attempt === SESSION_OVER) return attempt;
    // A small body is inspected before the upstream is contacted, unless the client waits to be asked for it: then the
    // upstream has to be there first, and the body is inspected as it passes.
    const isInspected = scan !== undefined && request.headers.expect === undefined;
    const wanted = isInspected || attempt?.judge !== undefined;
    const held = wanted ? await heldBody(exchange, framing) : exchange;
    if (held.replacement !== undefined) {
      scan?.push(held.replacement.body);
      scan?.end();
    }
    for (;;) {
      const disposition = await send(held, upstreamName, limits, rewrite, attempt, scan);
      if (disposition === SESSION_OVER) return disposition;
      if (disposition === 'deliver') return undefined;
      // The body was consumed by the first attempt, which was refused: the client has to send it again.
      if (framing.kind !== 'none' && held.replacement === undefined) {
        throw new GatewayError('upstream_unavailable', { headers: { 'retry-after': '1' } });
      }
      attempt = await credential?.attempt(principal, method, attempt);
      if (attempt === SESSION_OVER) return attempt;
    }
  };
}

/** Adds a credential's fields to a request, replacing any fields of the same names. */
function withFields(fields: readonly string[], own: Readonly<Record<string, string>>): string[] {
  const names = new Set(Object.keys(own).map((name) => name.toLowerCase()));
  const kept = fields.filter((_, at) => !names.has((fields[at - (at % 2)] as string).toLowerCase()));
  return [...kept, ...Object.entries(own).flat()];
}

/** Maps a Location inside the upstream to its public path. Changes `fields`, which alternates names and values. */
function restoreLocation(fields: string[], rewrite: Rewrite, origin: string): void {
  for (let at = 0; at + 1 < fields.length; at += 2) {
    if (fields[at]?.toLowerCase() !== 'location') continue;
    const [, ours = '', path = '', rest = ''] =
      /^(https?:\/\/[^/?#]*)?(\/[^?#]*)(.*)$/.exec(fields[at + 1] ?? '') ?? [];
    const here = ours === '' || ours === origin ? rewrite.outward(path) : undefined;
    if (here !== undefined) fields[at + 1] = ours + here + rest;
  }
}
