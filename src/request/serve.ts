// The path of a request from the public listener to the handler of its route, and of errors back to the client.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { GatewayError, type Voice } from '../errors.ts';
import { PAGE_VARIES } from '../http/navigation.ts';
import type { Provenance } from '../http/provenance.ts';
import type { RequestInFlight } from '../http/requests-in-flight.ts';
import { parseTarget, type Target } from '../upstream/target.ts';
import { browserPage, hasPage } from './browser-page.ts';
import { answerPreflight } from './cors.ts';
import { enter } from './enter.ts';
import { answerFailure, routeAt } from './failure.ts';
import { noteGuess } from './guess.ts';
import type { Incoming } from './incoming.ts';
import { isLoop, isObserved, type RequestParts } from './parts.ts';
import type { Route } from './route.ts';
import { toSite } from './to-site.ts';

/**
 * One request, from top to bottom. Each step ends the request or narrows it down for the next:
 *
 *   connection   whether this connection may send another request, and its address may have another one open
 *   loop         508 if this gate has forwarded it before
 *   target       the canonical path, or 400
 *   host         with `pages.origin`, whether it is that of the members' pages (member-pages.ts)
 *   preflight    answered for routes that pages of other origins may call
 *   route        from the route table, or the legacy site, or 404 or 405
 *   gate         the token, or a challenge              (enter.ts, from here on)
 *   limits       rate limits of the member, the app or the address, or 429
 *   role         the role that the route needs, at the school or in the course of the request, or 403
 *   handler      produces the response
 *   failure      whatever a step throws, in the error format of the route (failure.ts)
 *
 * A step that has to wait returns a promise, and the steps after it wait too. With a cached token and assertion nothing
 * waits: the request is on its way to the upstream in the turn of the event loop in which its head arrived.
 *
 * Resolves when the handler is done, or returns undefined if nothing had to wait; the answer may still be on its way to
 * the client. Neither throws nor rejects.
 * @param known the target of the request, if it has been parsed
 */
export function serve(
  parts: RequestParts,
  inFlight: RequestInFlight,
  response: ServerResponse,
  provenance: Provenance,
  known?: Target,
): Promise<void> | undefined {
  const { request } = inFlight;
  const record = parts.records.begin(inFlight, provenance);
  let target: Target | undefined;
  try {
    parts.connections.admit(request, response);
    if (isLoop(parts, request)) throw new GatewayError('loop_detected');
    parts.admission.open(provenance.clientAddress, inFlight);
    if (isServerPing(request)) {
      response.writeHead(204).end();
      return undefined;
    }
    target = readTarget(parts, request, known);
    record.path = target.path;
    const incoming = { request, response, target, record, inFlight };
    const apart = parts.memberPages.isApart(request);
    if (request.method === 'OPTIONS' && !apart && answerPreflight(parts, incoming)) return undefined;
    return (apart ? toPagesApart : toRoute)(parts, incoming)?.catch((thrown) => answerFailure(parts, incoming, thrown));
  } catch (thrown) {
    answerFailure(parts, { request, response, target, record }, thrown);
    return undefined;
  }
}

/** OPTIONS * asks about the server, not about a resource (RFC 9110 section 9.3.7). */
function isServerPing({ method, url }: IncomingMessage): boolean {
  return method === 'OPTIONS' && url === '*';
}

function readTarget({ origin, longestUrl }: RequestParts, { url = '' }: IncomingMessage, known?: Target): Target {
  if (url.length > longestUrl) throw new GatewayError('uri_too_long');
  const target = known ?? parseTarget(url, origin);
  if (target === undefined)
    throw new GatewayError('invalid_request', { message: 'This address is not one that is taken here.' });
  return target;
}

function toRoute(parts: RequestParts, incoming: Incoming): Promise<void> | undefined {
  const { request, target, record } = incoming;
  const method = request.method ?? '';
  const found = parts.routing(method, target.path);
  switch (found.kind) {
    case 'route':
      record.route = found.route.pattern;
      if (found.route.value.visits === true && !parts.memberPages.admit(incoming, found.route.value)) return undefined;
      return enter(parts, incoming, shownTo(request, found.route.value));
    case 'none':
      noteGuess(incoming);
      return toSite(parts, incoming, 'no_route');
    case 'claimed':
      if (isObserved(parts, method, target.path)) return toSite(parts, incoming, 'spelling');
      // A different spelling of a protected route's path, which the backend might treat as the same path.
      throw new GatewayError('not_found');
    case 'method_not_allowed':
      if (isObserved(parts, method, target.path)) return toSite(parts, incoming, 'method_not_allowed');
      return toPage(parts, incoming, found.allow);
  }
}

/** At the host of `pages.origin` there are the members' pages and nothing else: neither endpoints nor the site. */
function toPagesApart(parts: RequestParts, incoming: Incoming): Promise<void> | undefined {
  const { request, target, record } = incoming;
  const found = parts.routing(request.method ?? '', target.path);
  const route = found.kind === 'route' ? found.route.value : undefined;
  if (found.kind === 'route') record.route = found.route.pattern;
  parts.memberPages.admit(incoming, route);
  return route && enter(parts, incoming, route);
}

/** The route, or the page that a browser is shown instead. */
function shownTo(request: IncomingMessage, route: Route): Route {
  const page = route.page && browserPage(route, request);
  return page === undefined ? route : { protection: 'public', voice: 'page', cors: false, handler: page };
}

/** Shows a browser the page of an endpoint that has no GET. Throws `method_not_allowed` for everything else. */
function toPage(parts: RequestParts, incoming: Incoming, allow: readonly string[]): Promise<void> | undefined {
  const { request, target, record } = incoming;
  const route = routeAt(parts.routing, target.path, request.method ?? '');
  const page = route && shownTo(request, route);
  if (page === undefined || page === route)
    throw wrongMethod(allow, route?.voice, route !== undefined && hasPage(route, request));
  record.route = target.path;
  return enter(parts, incoming, page);
}

/** GraphQL clients can send queries by GET, and urql does so by default: they are told how to change that. */
function wrongMethod(allow: readonly string[], voice: Voice | undefined, varies: boolean): GatewayError {
  const headers = { allow: allow.join(', '), ...(varies ? { vary: PAGE_VARIES } : {}) };
  const message =
    'Send GraphQL operations by POST, as a JSON object with the member query (urql: preferGetMethod: false).';
  return new GatewayError('method_not_allowed', voice === 'graphql' ? { headers, message } : { headers });
}
