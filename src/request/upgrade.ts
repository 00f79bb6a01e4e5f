import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { asGatewayError, GatewayError, renderFailure } from '../errors.ts';
import { writeAnswer } from '../http/answer.ts';
import { withinRequest } from '../http/current-request.ts';
import type { Provenance } from '../http/provenance.ts';
import { ROUTE_LABELS } from '../http/request-record.ts';
import type { RequestInFlight } from '../http/requests-in-flight.ts';
import { answerOn } from '../upstream/socket-answer.ts';
import { parseTarget, type Target } from '../upstream/target.ts';
import { routeAt } from './failure.ts';
import { isLoop, isObserved, type RequestParts } from './parts.ts';
import { answerRefusal, presentedBy } from './refusal.ts';
import { refuseOn } from './refuse-socket.ts';

/** A WebSocket request. Only the legacy site takes them: a path of the route table is never opened by an upgrade. */
export function upgrade(parts: RequestParts, inFlight: RequestInFlight, socket: Duplex, head: Buffer): void {
  const { request } = inFlight;
  // node:http no longer listens on this socket: without a listener, a connection reset would end the process.
  socket.on('error', () => socket.destroy());
  const target = upgradeTarget(parts, request, socket);
  if (target === undefined) return;
  const { site } = parts;
  const provenance = parts.provenanceOf(request);
  if (
    site !== undefined &&
    !isLoop(parts, request) &&
    !parts.memberPages.isApart(request) &&
    (parts.routing('GET', target.path).kind === 'none' || isObserved(parts, 'GET', target.path))
  ) {
    const { record, answered: report } = parts.records.beginTunnel(inFlight, provenance);
    record.path = target.path;
    record.outcome = 'site';
    if (admitsAnother(parts, provenance, inFlight)) site.upgrade(request, socket, head, target, record, report);
    else refuseOn(socket, '429 Too Many Requests', 'Retry-After: 1\r\n');
    return;
  }
  const userAgent = request.headers['user-agent'] ?? '';
  withinRequest({ provenance, userAgent }, () => void refuseUpgrade(parts, inFlight, socket, target, provenance));
}

function upgradeTarget(
  { connections, origin }: RequestParts,
  request: IncomingMessage,
  socket: Duplex,
): Target | undefined {
  try {
    // An earlier request on this connection is still unanswered: the client would mistake an answer for the one it is
    // still waiting for.
    if (!connections.admitUpgrade(request)) socket.destroy();
    else {
      const target = parseTarget(request.url ?? '', origin);
      if (target !== undefined) return target;
      refuseOn(socket, '400 Bad Request');
    }
  } catch {
    refuseOn(socket, '400 Bad Request');
  }
  return undefined;
}

function admitsAnother({ admission }: RequestParts, { clientAddress }: Provenance, inFlight: RequestInFlight): boolean {
  try {
    admission.open(clientAddress, inFlight);
    return true;
  } catch {
    return false;
  }
}

/**
 * Answers like any other request: with 508 if it loops, with 404 at the host of the pages, with a challenge if the route
 * needs a token, otherwise with 400 or 404.
 */
async function refuseUpgrade(
  parts: RequestParts,
  inFlight: RequestInFlight,
  socket: Duplex,
  target: Target,
  provenance: Provenance,
): Promise<void> {
  const { records, routing, gate, origin } = parts;
  const { request } = inFlight;
  const { record, answered: report } = records.beginTunnel(inFlight, provenance);
  const response = answerOn(request, socket);
  const { requestId } = provenance;
  record.path = target.path;
  response.setHeader('x-request-id', requestId);
  try {
    if (isLoop(parts, request)) throw new GatewayError('loop_detected');
    const found = routing('GET', target.path);
    record.route = found.kind === 'route' ? found.route.pattern : ROUTE_LABELS.none;
    if (parts.memberPages.isApart(request)) throw new GatewayError('not_found');
    const route = routeAt(routing, target.path, 'GET');
    if (route === undefined) throw new GatewayError('not_found');
    if (route.protection !== 'public') {
      const presented = presentedBy(origin, request, target);
      const decision = await gate(presented, route.protection);
      if (decision.kind === 'refused') {
        answerRefusal(parts, { response, target, record }, decision, presented, route.limits);
        return;
      }
    }
    throw new GatewayError('invalid_request', { message: 'This address does not take WebSockets.' });
  } catch (thrown) {
    const failure = asGatewayError(thrown);
    records.failed(record, failure);
    writeAnswer(response, renderFailure(failure, 'problem', { requestId, traceId: provenance.traceId() }));
  } finally {
    report(response.statusCode);
  }
}
