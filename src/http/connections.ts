import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { GatewayError } from '../errors.ts';
import { assertClearMessage } from './message.ts';

/** What has to be known of a connection beyond the one message: Node hands over pipelined ones all at once. */
export interface Connections {
  /**
   * Takes a request in. Throws GatewayError `invalid_request` for a message that is not clear, and for whatever comes
   * behind one on its connection, for that may be a part of it. The connection is then closed after the answer.
   */
  admit(request: IncomingMessage, response: ServerResponse): void;
  /** As `admit`, for an upgrade, which takes the connection over. Out: whether it may: not while an answer is owed on it. */
  admitUpgrade(request: IncomingMessage): boolean;
}

export function createConnections(): Connections {
  /** Connections of which nothing more is read: after an unclear message, or one that ends its connection by itself. */
  const spent = new WeakSet<Duplex>();
  const owed = new WeakMap<Duplex, number>();

  const assertClear = (request: IncomingMessage): void => {
    const { socket } = request;
    if (spent.has(socket)) throw new GatewayError('invalid_request', { headers: { connection: 'close' } });
    try {
      assertClearMessage(request);
    } catch (thrown) {
      spent.add(socket);
      throw thrown;
    }
  };

  return {
    admit(request, response) {
      const { socket } = request;
      owed.set(socket, (owed.get(socket) ?? 0) + 1);
      response.once('close', () => owed.set(socket, (owed.get(socket) ?? 1) - 1));
      assertClear(request);
      // Where an HTTP/1.0 message ends has been understood in too many ways to use its connection twice. Behind an upgrade
      // that is not taken (h2c) Node loses the rest of the packet, and would read on in the middle of a message.
      if (request.httpVersionMinor < 1 || request.headers.upgrade !== undefined) {
        response.shouldKeepAlive = false;
        spent.add(socket);
      }
    },
    admitUpgrade(request) {
      assertClear(request);
      return (owed.get(request.socket) ?? 0) === 0;
    },
  };
}
