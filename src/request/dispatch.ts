import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { createConnections } from '../http/connections.ts';
import { withinRequest } from '../http/current-request.ts';
import { type RequestInFlight, requestOf } from '../http/requests-in-flight.ts';
import type { RequestParts } from './parts.ts';
import { refuseConnect, refuseUnreadable } from './refuse-socket.ts';
import { serve } from './serve.ts';
import { upgrade } from './upgrade.ts';

/** Handles everything that arrives on the public listener. */
export type Dispatch = ReturnType<typeof createDispatch>;

export function createDispatch(options: Omit<RequestParts, 'connections'>) {
  const parts: RequestParts = { ...options, connections: createConnections() };
  const { connections, inFlight, provenanceOf, records, admission } = parts;
  const endOfRequest = [records.over, connections.over, admission.over, inFlight.closed];
  const endOfUpgrade = [records.over, admission.over, inFlight.closed];
  return {
    request(request: IncomingMessage, response: ServerResponse): void {
      const one = requestOf(response);
      inFlight.take(one, endOfRequest);
      const provenance = provenanceOf(request);
      const userAgent = request.headers['user-agent'] ?? '';
      const work = withinRequest({ provenance, userAgent, inFlight: one }, () =>
        serve(parts, one, response, provenance),
      );
      if (work !== undefined) inFlight.hold(work);
    },
    upgrade(one: RequestInFlight, socket: Duplex, head: Buffer): void {
      inFlight.take(one, endOfUpgrade);
      upgrade(parts, one, socket, head);
    },
    connect: (request: IncomingMessage, socket: Duplex) => refuseConnect(connections, request, socket),
    /** Requests that node:http could not parse, or that timed out. */
    unreadable: (error: NodeJS.ErrnoException, socket: Duplex) => refuseUnreadable(connections, error, socket),
  };
}
