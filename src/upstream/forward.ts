// Everything between the gate and the backends: connections, limits and circuit breakers, the header policy, identity
// headers and credentials. forward.ts is the protected lane, site.ts the site lane, call.ts the gate's own calls.

import { AsyncLocalStorage } from 'node:async_hooks';
import { GatewayError } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import { SESSION_OVER, type SessionOver } from '../oauth/challenge.ts';
import { isEventStream } from './answer-stream.ts';
import { type BodyLimits, refuseLargeAnswer, refuseLargeRequest } from './body-limit.ts';
import { type CallAttempt, type Credential, type Disposition, NO_CREDENTIALS } from './credentials/credential.ts';
import { heldBody } from './credentials/held-body.ts';
import { withParameter } from './credentials/parameter.ts';
import { deliver } from './delivery.ts';
import { asksForWebSocket, type Framing, requestFraming } from './framing.ts';
import { type HeaderPolicy, protectedPolicies } from './header-policy.ts';
import { type ResponseHead, requestHeaders, responseHead } from './headers.ts';
import { fieldsForMapping, mapJsonLinks } from './json-links.ts';
import { publicLocation } from './location.ts';
import type { BodyScan } from './method-override/body-scan.ts';
import { methodOverrides } from './method-override/method-override.ts';
import type { UpstreamAccess } from './request.ts';
import type { Rewrite } from './rewrite.ts';
import type { RouteLinks } from './route-links.ts';
import { uploadOf } from './upload.ts';

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
 * @param links maps references in the response to public addresses by the routes; undefined: only their host
 */
export type Forward = (
  exchange: Exchange,
  upstream: string,
  limits: BodyLimits,
  rewrite?: Rewrite,
  links?: RouteLinks,
) => Promise<SessionOver | undefined>;

interface Parts extends Pick<UpstreamAccess, 'pools' | 'identity'> {
  readonly policies: ReadonlyMap<string, HeaderPolicy>;
}

/** One request, and how it is sent. */
interface Sending {
  readonly exchange: Exchange;
  readonly name: string;
  readonly limits: BodyLimits;
  readonly rewrite: Rewrite | undefined;
  readonly links: RouteLinks | undefined;
  readonly scan: BodyScan | undefined;
}

/** The protected lane: an HTTP client with the header policy. */
export function createForward(access: UpstreamAccess): Forward {
  const { credentials = NO_CREDENTIALS } = access;
  const parts = { ...access, policies: protectedPolicies(access) };

  return (exchange, name, limits, rewrite, links) => {
    const { request } = exchange;
    if (asksForWebSocket(request))
      throw new GatewayError('invalid_request', { message: 'This address does not take WebSockets.' });
    const framing = requestFraming(request);
    refuseLargeRequest(framing, limits.request);
    const sending = { exchange, name, limits, rewrite, links, scan: scanFor(exchange, framing) };
    const credential = credentials(name);
    if (credential !== undefined || sending.scan !== undefined) return sendWith(credential, parts, sending, framing);
    return send(parts, sending, undefined).then(sessionGoesOn);
  };
}

const sessionGoesOn = (): undefined => undefined;

/** Checks the query for a method override, and returns the scanner of the body. */
function scanFor({ request, target, replacement, admits }: Exchange, framing: Framing): BodyScan | undefined {
  const hasBody = replacement !== undefined || framing.kind !== 'none';
  if (!hasBody && target.query === '') return undefined;
  const overrides = methodOverrides(admits ?? ((other) => other === request.method));
  overrides.checkQuery(target.query);
  return hasBody ? overrides.scan((replacement ?? request).rawHeaders) : undefined;
}

async function sendWith(
  credential: Credential | undefined,
  parts: Parts,
  sending: Sending,
  framing: Framing,
): Promise<SessionOver | undefined> {
  const { exchange, scan } = sending;
  const { request, principal } = exchange;
  const method = request.method ?? 'GET';
  let attempt = await credential?.attempt(principal, method);
  if (attempt === SESSION_OVER) return attempt;
  // A small body is inspected before the upstream is contacted, unless the client waits to be asked for it: then the
  // upstream has to be there first, and the body is inspected as it passes.
  const isInspected = scan !== undefined && request.headers.expect === undefined;
  const wanted = isInspected || attempt?.inspect !== undefined;
  const held = wanted ? await heldBody(exchange, framing) : exchange;
  if (held.replacement !== undefined) {
    scan?.push(held.replacement.body);
    scan?.end();
  }
  for (;;) {
    const disposition = await send(parts, { ...sending, exchange: held }, attempt);
    if (disposition !== 'again') return disposition === SESSION_OVER ? disposition : undefined;
    // The body was consumed by the first attempt, which was refused: the client has to send it again.
    if (framing.kind !== 'none' && held.replacement === undefined)
      throw new GatewayError('upstream_unavailable', { headers: { 'retry-after': '1' } });
    attempt = await credential?.attempt(principal, method, attempt);
    if (attempt === SESSION_OVER) return attempt;
  }
}

/** Waits for the identity fields only if they are not cached. */
function send(parts: Parts, sending: Sending, attempt: CallAttempt | undefined): Promise<Disposition> {
  const { exchange, name } = sending;
  const identity = parts.identity(exchange.principal, name, parts.pools.get(name).identity);
  return identity instanceof Promise
    ? identity.then((fields) => sendAs(fields, parts, sending, attempt))
    : sendAs(identity, parts, sending, attempt);
}

function sendAs(
  identity: Readonly<Record<string, string>>,
  { pools, policies }: Parts,
  { exchange, name, limits, rewrite, links, scan }: Sending,
  attempt: CallAttempt | undefined,
): Promise<Disposition> {
  const { request, response, target, principal, provenance, record, ownFields, replacement } = exchange;
  const framing = requestFraming(request);
  const upstream = pools.get(name);
  const policy = policies.get(name) as HeaderPolicy;
  const given = requestHeaders((replacement ?? request).rawHeaders, provenance, policy);
  const headers = links?.inBodies === true ? fieldsForMapping(given) : given;
  if (replacement !== undefined) headers.push('Content-Length', String(replacement.body.length));
  else if (framing.kind === 'length') headers.push('Content-Length', framing.length);
  const at = rewrite === undefined ? target : { ...target, path: rewrite.inward(target.path) };

  record.asks(name);
  return deliver({
    upstream,
    request: {
      method: request.method ?? 'GET',
      path: upstream.pathOf(attempt?.query === undefined ? at : withParameter(at, attempt.query)),
      servername: policy.servername,
      headers:
        attempt === undefined ? headers : withFields([...headers, ...Object.entries(identity).flat()], attempt.fields),
      common: attempt === undefined ? identity : undefined,
      body:
        replacement !== undefined
          ? replacement.body
          : framing.kind === 'none'
            ? null
            : uploadOf(request, limits.request, scan),
    },
    response,
    limit: limits.response,
    // Clients call it in the context of their connection, but the audit needs that of this request.
    inspect: attempt?.inspect === undefined ? undefined : AsyncLocalStorage.bind(attempt.inspect),
    head: (status, raw) => {
      record.answered(isEventStream(raw));
      refuseLargeAnswer(request.method ?? 'GET', status, raw, limits.response);
      return links === undefined
        ? responseHead(status, raw, policy, principal.kind === 'member', undefined, ownFields)
        : withLinks({ status, raw, policy, exchange, at: at.path }, links);
    },
  });
}

/** Adds a credential's fields to a request, replacing any fields of the same names. */
function withFields(fields: readonly string[], own: Readonly<Record<string, string>>): string[] {
  const names = new Set(Object.keys(own).map((name) => name.toLowerCase()));
  const kept = fields.filter((_, at) => !names.has((fields[at - (at % 2)] as string).toLowerCase()));
  return [...kept, ...Object.entries(own).flat()];
}

interface UpstreamAnswer {
  readonly status: number;
  /** The upstream's fields. */
  readonly raw: readonly string[];
  readonly policy: HeaderPolicy;
  readonly exchange: Exchange;
  /** The path that the upstream was asked for. */
  readonly at: string;
}

/** The head of a response on a route whose links are mapped. */
function withLinks({ status, raw, policy, exchange, at }: UpstreamAnswer, links: RouteLinks): ResponseHead {
  const { request, target, principal } = exchange;
  const { reference, text } = links.of({
    addresses: policy,
    principal,
    method: request.method ?? 'GET',
    path: target.path,
    at,
  });
  const head = responseHead(
    status,
    raw,
    policy,
    principal.kind === 'member',
    (value) => reference(value) ?? publicLocation(value, policy),
    exchange.ownFields,
  );
  if (!links.inBodies) return head;
  const condition = request.headers['if-none-match'];
  return { ...head, body: mapJsonLinks({ status, raw, condition }, head.fields, text) };
}
