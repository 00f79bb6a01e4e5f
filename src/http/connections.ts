import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { GatewayError } from '../errors.ts';
import { assertClearMessage } from './message.ts';
import type { RequestInFlight } from './requests-in-flight.ts';

/** State per connection that goes beyond a single message: Node delivers pipelined requests all at once. */
export type Connections = ReturnType<typeof createConnections>;

/** Stored on the socket itself: entries of a WeakMap would cost garbage collection work for every request. */
const OWED = Symbol('answers that are owed');
const LAST = Symbol('the answer to the request that came last');
const SPENT = Symbol('nothing more is read');

interface Connection extends Duplex {
  [OWED]?: number;
  [LAST]?: ServerResponse;
  /** Set after an ambiguous message, or one that ends its connection. */
  [SPENT]?: boolean;
}

export function createConnections() {
  const assertClear = (request: IncomingMessage): void => {
    const socket: Connection = request.socket;
    // After our side is closed, incoming data is only read so that the last response arrives.
    if (socket[SPENT] || socket.writableEnded)
      throw new GatewayError('invalid_request', { headers: { connection: 'close' } });
    try {
      assertClearMessage(request);
    } catch (thrown) {
      socket[SPENT] = true;
      throw thrown;
    }
  };

  return {
    /**
     * Admits a request. Throws GatewayError `invalid_request` for an ambiguous message, and for everything that follows
     * one on its connection, because it may be part of that message. The connection is closed after the response.
     */
    admit(request: IncomingMessage, response: ServerResponse): void {
      const socket: Connection = request.socket;
      socket[OWED] = (socket[OWED] ?? 0) + 1;
      socket[LAST] = response;
      assertClear(request);
      // The end of an HTTP/1.0 message has been interpreted in too many ways to reuse its connection. After an upgrade
      // that is not accepted (h2c) Node loses the rest of the packet, and would continue in the middle of a message.
      if (request.httpVersionMinor < 1 || request.headers.upgrade !== undefined) {
        response.shouldKeepAlive = false;
        socket[SPENT] = true;
      }
    },
    /** The end step for every request that was given to `admit`. */
    over({ request }: RequestInFlight): void {
      const socket: Connection = request.socket;
      socket[OWED] = (socket[OWED] ?? 1) - 1;
    },
    /**
     * Like `admit`, for an upgrade, which takes over the connection. Returns false while a response is still owed on it.
     */
    admitUpgrade(request: IncomingMessage): boolean {
      assertClear(request);
      return ((request.socket as Connection)[OWED] ?? 0) === 0;
    },
    /**
     * Whether a client would take an error response written now for the response to the bytes that could not be parsed.
     * True if no response is pending, or only that of the request whose body these bytes are.
     */
    mayRefuse(socket: Connection): boolean {
      const { [OWED]: owed = 0, [LAST]: last } = socket;
      return owed === 0 || (owed === 1 && last !== undefined && !last.req.complete && !last.headersSent);
    },
  };
}
