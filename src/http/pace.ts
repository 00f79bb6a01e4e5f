import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { readSendQueues } from './send-queues.ts';

export interface PaceOptions {
  /** Seconds a client may take none of the bytes that wait for it. */
  readonly stall: number;
  /** Bytes per second of a request's body, on average over ten seconds; 0: any pace. */
  readonly uploadRate: number;
}

/** Milliseconds. Clients are looked at this often, or twice within the shortest bound: it is kept to within as much. */
const LOOK_EVERY = 5_000;
/** Looks over which the pace of an upload is taken. */
const WINDOW = 2;

interface Outgoing {
  delivered: number;
  /** What the kernel held at the last look, if it was asked. */
  queued: number | undefined;
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
 * paused is not slow. In: a server before it listens. Out: one look, as it is also made every so often.
 */
export function keepPace(server: Server, { stall, uploadRate }: PaceOptions): () => Promise<void> {
  const lookEvery = Math.min(LOOK_EVERY, Math.max(1, stall * 1000) / 2);
  const outgoing = new Map<Socket, Outgoing>();
  const incoming = new Map<Socket, Incoming>();

  server.on('connection', (socket) => {
    outgoing.set(socket, { delivered: 0, queued: undefined, quietLooks: 0 });
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

  const lookAtReaders = async (): Promise<void> => {
    const quiet: [Socket, Outgoing][] = [];
    for (const [socket, state] of outgoing) {
      // What is queued counts as written.
      const delivered = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength > 0 && delivered === state.delivered) quiet.push([socket, state]);
      else {
        state.quietLooks = 0;
        state.queued = undefined;
      }
      state.delivered = delivered;
    }
    if (quiet.length === 0) return;
    const queues = await readSendQueues();
    for (const [socket, state] of quiet) {
      const queued = queues?.of(socket);
      const reads = state.queued !== undefined && queued !== state.queued;
      state.queued = queued;
      state.quietLooks = reads ? 0 : state.quietLooks + 1;
      if (state.quietLooks * lookEvery >= stall * 1000) socket.destroy();
    }
  };

  const lookAtUploads = (): void => {
    for (const [socket, state] of incoming) {
      if (state.request.complete || state.request.readableFlowing !== true) {
        state.looks = 0;
        state.received = socket.bytesRead;
      } else if (++state.looks === WINDOW) {
        if (socket.bytesRead - state.received < (uploadRate * WINDOW * lookEvery) / 1000) socket.destroy();
        state.looks = 0;
        state.received = socket.bytesRead;
      }
    }
  };
  let looking = false;
  const look = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    lookAtUploads();
    await lookAtReaders();
    looking = false;
  };
  const looks = setInterval(look, lookEvery).unref();
  server.once('close', () => clearInterval(looks));
  return look;
}
