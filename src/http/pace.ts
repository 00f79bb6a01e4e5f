import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

export interface PaceOptions {
  /** Seconds a client may take none of the bytes that wait for it. */
  readonly stall: number;
  /** Bytes per second of a request's body, on average over ten seconds; 0: any pace. */
  readonly uploadRate: number;
}

/** Milliseconds. Clients are looked at this often, and so a bound is kept to within as much. */
const LOOK_EVERY = 5_000;
/** Looks over which the pace of an upload is taken. */
const WINDOW = 2;

interface Outgoing {
  delivered: number;
  quietLooks: number;
}

interface Incoming {
  readonly request: IncomingMessage;
  received: number;
  looks: number;
}

/**
 * Drops clients that hold a connection by doing next to nothing: who does not read an answer that waits for it, or
 * sends a body too slowly. One look over all connections every few seconds instead of timers for each request. Waiting
 * for us or for an upstream is no fault of a client's: an idle stream has nothing waiting, and an upload that was
 * paused is not slow. In: a server before it listens.
 */
export function keepPace(server: Server, { stall, uploadRate }: PaceOptions): void {
  const outgoing = new Map<Socket, Outgoing>();
  const incoming = new Map<Socket, Incoming>();

  server.on('connection', (socket) => {
    outgoing.set(socket, { delivered: 0, quietLooks: 0 });
    socket.once('close', () => {
      outgoing.delete(socket);
      incoming.delete(socket);
    });
  });
  server.prependListener('request', (request: IncomingMessage) => {
    const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
    if (uploadRate === 0 || (coding === undefined && (length === undefined || length === '0'))) return;
    const { socket } = request;
    incoming.set(socket, { request, received: socket.bytesRead, looks: 0 });
    request.once('close', () => {
      if (incoming.get(socket)?.request === request) incoming.delete(socket);
    });
  });

  const look = () => {
    for (const [socket, state] of outgoing) {
      // What is queued counts as written.
      const delivered = socket.bytesWritten - socket.writableLength;
      const stalled = socket.writableLength > 0 && delivered === state.delivered;
      state.delivered = delivered;
      state.quietLooks = stalled ? state.quietLooks + 1 : 0;
      if (state.quietLooks * LOOK_EVERY >= stall * 1000) socket.destroy();
    }
    for (const [socket, state] of incoming) {
      if (state.request.complete || state.request.readableFlowing !== true) {
        state.looks = 0;
        state.received = socket.bytesRead;
      } else if (++state.looks === WINDOW) {
        if (socket.bytesRead - state.received < (uploadRate * WINDOW * LOOK_EVERY) / 1000) socket.destroy();
        state.looks = 0;
        state.received = socket.bytesRead;
      }
    }
  };
  const looking = setInterval(look, LOOK_EVERY).unref();
  server.once('close', () => clearInterval(looking));
}
