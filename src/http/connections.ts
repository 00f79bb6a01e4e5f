import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { GatewayError } from '../errors.ts';
import { assertClearMessage } from './message.ts';
import { whenClosed } from './when-closed.ts';

/** What has to be known of a connection beyond the one message: Node hands over pipelined ones all at once. */
export interface Connections {
  /**
   * Takes a request in. Throws GatewayError `invalid_request` for a message that is not clear, and for whatever comes
   * behind one on its connection, for that may be a part of it. The connection is then closed after the answer.
   */
  admit(request: IncomingMessage, response: ServerResponse): void;
  /** As `admit`, for an upgrade, which takes the connection over. Out: whether it may: not while an answer is owed on it. */
  admitUpgrade(request: IncomingMessage): boolean;
  /**
   * Whether an answer written now to bytes that could not be read would be taken for the answer to them: nothing is
   * owed, or only to the request whose body they are.
   */
  mayRefuse(socket: Duplex): boolean;
}

/** Kept on the socket itself: a map beside it would have to be cleaned by the garbage collector, request by request. */
const OWED = Symbol('answers that are owed');
const LAST = Symbol('the answer to the request that came last');
const SPENT = Symbol('nothing more is read');

interface Connection extends Duplex {
  [OWED]?: number;
  [LAST]?: ServerResponse;
  /** After an unclear message, or one that ends its connection by itself. */
  [SPENT]?: boolean;
}

export function createConnections(): Connections {
  const assertClear = (request: IncomingMessage): void => {
    const socket: Connection = request.socket;
    // Where our side is closed, what still comes is only read so that the last answer arrives.
    if (socket[SPENT] || socket.writableEnded) {
      throw new GatewayError('invalid_request', { headers: { connection: 'close' } });
    }
    try {
      assertClearMessage(request);
    } catch (thrown) {
      socket[SPENT] = true;
      throw thrown;
    }
  };

  return {
    admit(request, response) {
      const socket: Connection = request.socket;
      socket[OWED] = (socket[OWED] ?? 0) + 1;
      socket[LAST] = response;
      whenClosed(response, () => {
        socket[OWED] = (socket[OWED] ?? 1) - 1;
      });
      assertClear(request);
      // Where an HTTP/1.0 message ends has been understood in too many ways to use its connection twice. Behind an upgrade
      // that is not taken (h2c) Node loses the rest of the packet, and would read on in the middle of a message.
      if (request.httpVersionMinor < 1 || request.headers.upgrade !== undefined) {
        response.shouldKeepAlive = false;
        socket[SPENT] = true;
      }
    },
    admitUpgrade(request) {
      assertClear(request);
      return ((request.socket as Connection)[OWED] ?? 0) === 0;
    },
    mayRefuse(socket: Connection) {
      const { [OWED]: owed = 0, [LAST]: last } = socket;
      return owed === 0 || (owed === 1 && last !== undefined && !last.req.complete && !last.headersSent);
    },
  };
}
