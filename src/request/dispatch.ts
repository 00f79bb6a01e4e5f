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
export interface Dispatch {
  readonly request: (request: IncomingMessage, response: ServerResponse) => void;
  readonly upgrade: (inFlight: RequestInFlight, socket: Duplex, head: Buffer) => void;
  readonly connect: (request: IncomingMessage, socket: Duplex) => void;
  /** Requests that node:http could not parse, or that timed out. */
  readonly unreadable: (error: NodeJS.ErrnoException, socket: Duplex) => void;
}

export function createDispatch(options: Omit<RequestParts, 'connections'>): Dispatch {
  const parts: RequestParts = { ...options, connections: createConnections() };
  const { connections, inFlight, provenanceOf, records, admission } = parts;
  const endOfRequest = [records.over, connections.over, admission.over, inFlight.closed];
  const endOfUpgrade = [records.over, admission.over, inFlight.closed];
  return {
    request(request, response) {
      const one = requestOf(response);
      inFlight.take(one, endOfRequest);
      const provenance = provenanceOf(request);
      const userAgent = request.headers['user-agent'] ?? '';
      const work = withinRequest({ provenance, userAgent, inFlight: one }, () =>
        serve(parts, one, response, provenance),
      );
      if (work !== undefined) inFlight.hold(work);
    },
    upgrade(one, socket, head) {
      inFlight.take(one, endOfUpgrade);
      upgrade(parts, one, socket, head);
    },
    connect: (request, socket) => refuseConnect(connections, request, socket),
    unreadable: (error, socket) => refuseUnreadable(connections, error, socket),
  };
}
