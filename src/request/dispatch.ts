import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { createConnections } from '../http/connections.ts';
import { withinRequest } from '../http/current-request.ts';
import type { RequestParts } from './parts.ts';
import { refuseConnect, refuseUnreadable } from './refuse-socket.ts';
import { serve } from './serve.ts';
import { upgrade } from './upgrade.ts';

/** Handles everything that arrives on the public listener. */
export interface Dispatch {
  readonly request: (request: IncomingMessage, response: ServerResponse) => void;
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  readonly connect: (request: IncomingMessage, socket: Duplex) => void;
  /** Requests that node:http could not parse, or that timed out. */
  readonly unreadable: (error: NodeJS.ErrnoException, socket: Duplex) => void;
}

export function createDispatch(options: Omit<RequestParts, 'connections'>): Dispatch {
  const parts: RequestParts = { ...options, connections: createConnections() };
  const { connections, inFlight, provenanceOf } = parts;
  return {
    request(request, response) {
      const provenance = provenanceOf(request);
      const userAgent = request.headers['user-agent'] ?? '';
      inFlight.hold(
        response,
        withinRequest({ provenance, userAgent }, () => serve(parts, request, response, provenance)),
      );
    },
    upgrade(request, socket, head) {
      inFlight.holdSocket(socket);
      upgrade(parts, request, socket, head);
    },
    connect: (request, socket) => refuseConnect(connections, request, socket),
    unreadable: (error, socket) => refuseUnreadable(connections, error, socket),
  };
}
