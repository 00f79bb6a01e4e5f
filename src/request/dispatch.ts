import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { asGatewayError, GatewayError, oauthError, renderFailure, type Voice } from '../errors.ts';
import { json, setFields, writeAnswer } from '../http/answer.ts';
import { createConnections } from '../http/connections.ts';
import { withinRequest } from '../http/current-request.ts';
import { fieldValues } from '../http/field-values.ts';
import { PAGE_FIELDS } from '../http/header-names.ts';
import type { Provenance, ProvenanceOf } from '../http/provenance.ts';
import { type RequestRecord, ROUTE_LABELS } from '../http/request-record.ts';
import { unreadableStatus } from '../http/unreadable.ts';
import type { Admission } from '../limits/admission.ts';
import { type Challenge, formatChallenge } from '../oauth/challenge.ts';
import { ANONYMOUS, type Principal } from '../oauth/principal.ts';
import type { Refusal } from '../operations/observe/observations.ts';
import type { Observer } from '../operations/observe/observer.ts';
import type { RequestRecords } from '../operations/request-records.ts';
import { type Gate, type Presented, signInAgain, type Verdict } from '../resource-server/gate.ts';
import type { OpenAnswers } from '../resource-server/open-answers.ts';
import type { Routed, Routing } from '../upstream/routing.ts';
import type { Site } from '../upstream/site.ts';
import { answerOn } from '../upstream/socket-answer.ts';
import { parseTarget, type Target } from '../upstream/target.ts';
import { admitsAlike } from './other-method.ts';
import type { Route } from './routes.ts';

export interface DispatchOptions {
  readonly origin: string;
  readonly routing: Routing<Route>;
  readonly provenanceOf: ProvenanceOf;
  readonly records: RequestRecords;
  readonly gate: Gate;
  readonly openAnswers: OpenAnswers;
  readonly admission: Admission;
  /** The legacy site, for what no route claims; undefined: there is nothing else. */
  readonly site: Site | undefined;
  /** In observe mode: who watches, and the routes that are held to all the same. */
  readonly observing: { readonly observer: Observer; readonly enforced: Routing<Route> } | undefined;
  /** Characters of a request target, which are bytes: others than ASCII are refused. */
  readonly longestUrl: number;
  readonly errorPage: (response: ServerResponse, failure: GatewayError, requestId: string) => void;
}

export interface Dispatch {
  /** Resolves when nothing more is done about it; the answer may be on its way still. */
  readonly request: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Refuses: nobody is connected to anything through the gate. */
  readonly connect: (request: IncomingMessage, socket: Duplex) => void;
  /** What node:http could not read, or waited for too long. Closes the connection. */
  readonly unreadable: (error: NodeJS.ErrnoException, socket: Duplex) => void;
}

const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'WWW-Authenticate, X-Request-Id, DPoP-Nonce, Retry-After, RateLimit, RateLimit-Policy, Deprecation, Sunset, ETag, Link, Location, Mcp-Session-Id, MCP-Protocol-Version',
} as const;
const CORS_FIELDS = Object.entries(CORS_HEADERS).flat();

/** One request, top to bottom: its target, its route, the gate, the handler; and the one place where failures are told. */
export function createDispatch(options: DispatchOptions): Dispatch {
  const { routing, provenanceOf, records, gate, openAnswers, admission, site, observing } = options;
  const connections = createConnections();

  const serve = async (request: IncomingMessage, response: ServerResponse, provenance: Provenance): Promise<void> => {
    const record = records.begin(request, response, provenance);
    let target: Target | undefined;
    try {
      connections.admit(request, response);
      admission.open(provenance.clientAddress, response);
      if ((request.url ?? '').length > options.longestUrl) throw new GatewayError('uri_too_long');
      // About no resource: whether somebody is there (RFC 9110 §9.3.7).
      if (request.method === 'OPTIONS' && request.url === '*') return void response.writeHead(204).end();
      target = parseTarget(request.url ?? '', options.origin);
      if (target === undefined)
        throw new GatewayError('invalid_request', { message: 'This address is not one that is taken here.' });
      record.path = target.path;
      await answer(request, response, target, record);
    } catch (thrown) {
      const failure = asGatewayError(thrown);
      records.failed(record, failure);
      fail(request, response, target, failure, record);
    }
  };

  const answer = async (
    request: IncomingMessage,
    response: ServerResponse,
    target: Target,
    record: RequestRecord,
  ): Promise<void> => {
    const method = request.method ?? '';
    if (method === 'OPTIONS' && preflight(request, response, target.path, record.provenance.requestId)) return;
    const found = routing(method, target.path);
    switch (found.kind) {
      case 'none':
        return toSite(request, response, target, record, { refusal: 'no_route' });
      case 'claimed':
        if (isWatched(method, target.path)) return toSite(request, response, target, record, { refusal: 'spelling' });
        // The path of a protected route in another spelling: the backend might take it for the same.
        throw new GatewayError('not_found');
      case 'method_not_allowed':
        if (isWatched(method, target.path))
          return toSite(request, response, target, record, { refusal: 'method_not_allowed' });
        throw new GatewayError('method_not_allowed', { headers: { allow: found.allow.join(', ') } });
      case 'route':
        record.route = found.route.pattern;
        return enter(request, response, target, found.route.value, record);
    }
  };

  /** The legacy site, as it is without us. In: what enforcement would have done instead, and with which route. */
  const toSite = async (
    request: IncomingMessage,
    response: ServerResponse,
    target: Target,
    record: RequestRecord,
    { refusal, route }: { readonly refusal: Refusal; readonly route?: Route },
  ): Promise<void> => {
    if (site === undefined) throw new GatewayError('not_found');
    if (route === undefined) record.route = ROUTE_LABELS.site;
    record.outcome = 'site';
    observing?.observer.watch(request, response, record, { route: route?.entry, refusal });
    const ownFields = ['x-request-id', record.provenance.requestId];
    const foreignToken = refusal === 'unknown_token';
    return site.handle(request, response, target, record, ownFields, { foreignToken });
  };

  /** In observe mode: whether only routes that are watched say anything of this address. */
  const isWatched = (method: string, path: string): boolean =>
    observing !== undefined && observing.enforced(method, path).kind === 'none';

  const enter = async (
    request: IncomingMessage,
    response: ServerResponse,
    target: Target,
    route: Route,
    record: RequestRecord,
  ): Promise<void> => {
    const { clientAddress, requestId } = record.provenance;
    const ownFields = route.cors ? ['x-request-id', requestId, ...CORS_FIELDS] : ['x-request-id', requestId];
    if (route.fields !== undefined) ownFields.push(...route.fields);
    let principal: Principal = ANONYMOUS;
    if (route.protection !== 'public') {
      const presented = presentedBy(request, target);
      const before = openAnswers.revocations();
      const asked = gate(presented, route.protection);
      // A token that is known is judged at once: nothing is waited for.
      const verdict = asked instanceof Promise ? await asked : asked;
      const refusal = watchedRefusal(verdict, presented, route);
      if (refusal !== undefined && refusal !== 'none')
        return toSite(request, response, target, record, { refusal, route });
      if (verdict.kind === 'refused') {
        setFields(response, ownFields);
        records.refused(record, reasonOf(verdict, presented), verdict.principal);
        admission.refuse(clientAddress, route.limits);
        return challenge(response, verdict.challenge);
      }
      principal = verdict.principal;
      record.principal = principal;
      record.outcome = principal.kind === 'member' ? 'admitted' : 'anonymous';
      if (principal.kind === 'member' && verdict.expires !== undefined) {
        const { authorization } = presented;
        openAnswers.hold({ response, authorization, principal, expires: verdict.expires }, before);
      }
      if (refusal === 'none') observing?.observer.watch(request, response, record, { route: route.entry, refusal });
    }
    const left = admission.admit(principal, clientAddress, response, route.limits);
    // An answer of our own may be kept in caches, where this would soon be wrong.
    if (left !== undefined && route.protection !== 'public') ownFields.push(...left);
    if (route.attempts === true) admission.attempt(clientAddress, response);
    if (route.relays !== true) setFields(response, ownFields);
    const { provenance } = record;
    if (route.areas !== undefined) record.areas = route.areas;
    try {
      const admits = (method: string) => admitsAlike(routing, method, target.path, route, principal);
      await route.handler({ request, response, target, principal, provenance, record, ownFields, admits });
    } catch (thrown) {
      const over = thrown instanceof GatewayError && thrown.code === 'session_over' && !response.headersSent;
      if (!over || route.protection === 'public') throw thrown;
      setFields(response, ownFields);
      records.refused(record, thrown.code, undefined);
      challenge(response, signInAgain(fieldValues(request, 'authorization'), route.protection));
    }
  };

  /**
   * In observe mode, for a route that is watched: what is let through and why, `none` for what is served as ever. A live
   * token of ours is held to in any mode: only an app has one, and none worked here before the gate. Undefined: no such route.
   */
  const watchedRefusal = (verdict: Verdict, presented: Presented, { entry }: Route): Refusal | undefined => {
    if (observing === undefined || entry === undefined || !observing.observer.watches(entry)) return undefined;
    if (verdict.kind === 'admitted') return verdict.principal.kind === 'member' ? 'none' : 'anonymous';
    if (verdict.known) return undefined;
    return presented.authorization.length === 0 ? 'no_token' : 'unknown_token';
  };

  const presentedBy = (request: IncomingMessage, target: Target): Presented => ({
    authorization: fieldValues(request, 'authorization'),
    dpop: fieldValues(request, 'dpop'),
    method: request.method ?? '',
    url: options.origin + target.path,
  });

  /** Out: whether the request was a CORS preflight for a route that other origins may call, and is answered. */
  const preflight = (request: IncomingMessage, response: ServerResponse, path: string, requestId: string): boolean => {
    const method = request.headers['access-control-request-method'];
    if (method === undefined) return false;
    const found = routing(method, path);
    if (found.kind !== 'route' || !found.route.value.cors) return false;
    // A page that asks to send no token of ours is one of the site's, which has its own rules.
    const fields = request.headers['access-control-request-headers'] ?? '';
    if (isWatched(method, path) && !/\b(authorization|dpop)\b/i.test(fields)) return false;
    response.writeHead(204, {
      'x-request-id': requestId,
      ...CORS_HEADERS,
      'access-control-allow-methods': found.route.methods?.join(', ') ?? method,
      'access-control-allow-headers': [...PAGE_FIELDS, ...(found.route.value.pageFields ?? [])].join(', '),
      'access-control-max-age': '3600',
    });
    response.end();
    return true;
  };

  const fail = (
    request: IncomingMessage,
    response: ServerResponse,
    target: Target | undefined,
    failure: GatewayError,
    record: RequestRecord,
  ): void => {
    const { provenance } = record;
    const { requestId } = provenance;
    if (response.headersSent || response.destroyed) {
      // Half an answer must not look like a whole one.
      response.destroy();
      return;
    }
    response.setHeader('x-request-id', requestId);
    const route = target === undefined ? undefined : routeAt(routing, target.path, request.method ?? '');
    const voice = route?.voice ?? (/\btext\/html\b/.test(request.headers.accept ?? '') ? 'page' : 'problem');
    if (route?.cors) setHeaders(response, CORS_HEADERS);
    if (voice === 'oauth') record.oauthError = oauthError(failure);
    write(response, failure, voice, provenance);
  };

  const write = (response: ServerResponse, failure: GatewayError, voice: Voice, provenance: Provenance): void => {
    const { requestId } = provenance;
    if (voice === 'page') options.errorPage(response, failure, requestId);
    else writeAnswer(response, renderFailure(failure, voice, { requestId, traceId: provenance.traceId() }));
  };

  return {
    request(request, response) {
      const provenance = provenanceOf(request);
      const userAgent = request.headers['user-agent'] ?? '';
      return withinRequest({ provenance, userAgent }, () => serve(request, response, provenance));
    },

    upgrade(request, socket, head) {
      // Node has let go of this socket: without a listener, a client that resets its connection would end the process.
      socket.on('error', () => socket.destroy());
      const target = upgradeTarget(request, socket);
      // Only the legacy site has sockets to open: a path of the table is never reached by an upgrade.
      if (target === undefined) return;
      if (site !== undefined && (routing('GET', target.path).kind === 'none' || isWatched('GET', target.path))) {
        const { record, told } = records.beginTunnel(request, socket as Socket, provenanceOf(request));
        record.path = target.path;
        record.outcome = 'site';
        if (isOneTooMany(record.provenance, socket)) refuseOn(socket, '429 Too Many Requests', 'Retry-After: 1\r\n');
        else site.upgrade(request, socket, head, target, record, told);
      } else {
        const provenance = provenanceOf(request);
        const userAgent = request.headers['user-agent'] ?? '';
        withinRequest({ provenance, userAgent }, () => void refuseUpgrade(request, socket, target, provenance));
      }
    },

    connect(request, socket) {
      socket.on('error', () => socket.destroy());
      try {
        if (connections.admitUpgrade(request)) refuseOn(socket, '405 Method Not Allowed', 'Allow: GET, HEAD, POST\r\n');
        else socket.destroy();
      } catch {
        refuseOn(socket, '400 Bad Request');
      }
    },

    unreadable(error, socket) {
      const status = unreadableStatus(error);
      if (status === undefined || !socket.writable || !connections.mayRefuse(socket)) socket.destroy();
      else refuseOn(socket, status);
    },
  };

  /** Nothing of the table opens a WebSocket. Whoever may not ask there at all is told so, as by any other request. */
  async function refuseUpgrade(
    request: IncomingMessage,
    socket: Duplex,
    target: Target,
    provenance: Provenance,
  ): Promise<void> {
    const { record, told } = records.beginTunnel(request, socket as Socket, provenance);
    const response = answerOn(request, socket);
    const { requestId, clientAddress } = record.provenance;
    record.path = target.path;
    response.setHeader('x-request-id', requestId);
    try {
      const found = routing('GET', target.path);
      record.route = found.kind === 'route' ? found.route.pattern : ROUTE_LABELS.none;
      const route = routeAt(routing, target.path, 'GET');
      if (route === undefined) throw new GatewayError('not_found');
      if (route.protection !== 'public') {
        const presented = presentedBy(request, target);
        const verdict = await gate(presented, route.protection);
        if (verdict.kind === 'refused') {
          records.refused(record, reasonOf(verdict, presented), verdict.principal);
          admission.refuse(clientAddress, route.limits);
          challenge(response, verdict.challenge);
          return;
        }
      }
      throw new GatewayError('invalid_request', { message: 'This address does not take WebSockets.' });
    } catch (thrown) {
      const failure = asGatewayError(thrown);
      records.failed(record, failure);
      writeAnswer(response, renderFailure(failure, 'problem', { requestId, traceId: provenance.traceId() }));
    } finally {
      told(response.statusCode);
    }
  }

  function isOneTooMany({ clientAddress }: Provenance, socket: Duplex): boolean {
    try {
      admission.open(clientAddress, socket);
      return false;
    } catch {
      return true;
    }
  }

  function upgradeTarget(request: IncomingMessage, socket: Duplex): Target | undefined {
    try {
      // An answer of ours would be taken for the one that is owed.
      if (!connections.admitUpgrade(request)) socket.destroy();
      else {
        const target = parseTarget(request.url ?? '', options.origin);
        if (target !== undefined) return target;
        refuseOn(socket, '400 Bad Request');
      }
    } catch {
      refuseOn(socket, '400 Bad Request');
    }
    return undefined;
  }
}

/** Answers an upgrade, and closes: a client that does not close its side would keep the socket for good. */
function refuseOn(socket: Duplex, status: string, fields = ''): void {
  socket.end(`HTTP/1.1 ${status}\r\n${fields}Connection: close\r\nContent-Length: 0\r\n\r\n`);
  (socket as Socket).destroySoon();
}

/** Why somebody was refused, in one word. */
function reasonOf({ challenge }: Extract<Verdict, { kind: 'refused' }>, { authorization }: Presented): string {
  return authorization.length === 0 ? 'no_token' : challenge.error;
}

/** The route a failed request was meant for: the one of its method, else the first that the path has. */
function routeAt(routing: Routing<Route>, path: string, method: string): Route | undefined {
  const found = routing(method, path);
  if (found.kind === 'route') return (found.route as Routed<Route>).value;
  if (found.kind !== 'method_not_allowed') return undefined;
  const allowed = routing(found.allow[0] ?? 'GET', path);
  return allowed.kind === 'route' ? allowed.route.value : undefined;
}

function challenge(response: ServerResponse, refusal: Challenge): void {
  const body = { error: refusal.error, error_description: refusal.description };
  const headers = { 'www-authenticate': formatChallenge(refusal), 'cache-control': 'no-store' };
  writeAnswer(response, json(refusal.status, body, headers));
}

function setHeaders(response: ServerResponse, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}
