import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { readSendQueues } from './send-queues.ts';

export interface PaceOptions {
  /** Seconds for which a client may read nothing of the bytes that wait for it. */
  readonly stall: number;
  /** Minimum bytes per second of a request body, averaged over ten seconds; 0: no minimum. */
  readonly uploadRate: number;
}

/**
 * Milliseconds between two checks, or less if the stall limit is short (at least two checks within it). Limits are
 * exact to within one interval.
 */
const LOOK_EVERY = 5_000;
/** Number of checks over which the rate of an upload is measured. */
const WINDOW = 2;

/** What is watched on one connection. */
interface Watched {
  delivered: number;
  /** The kernel's send queue at the last check, if it was read. */
  queued: number | undefined;
  quietLooks: number;
  upload: Upload | undefined;
}

/** A request whose body is arriving. */
interface Upload {
  readonly request: IncomingMessage;
  received: number;
  looks: number;
}

/**
 * Closes the connections of clients that stop reading a response that waits for them, or that send a body too slowly.
 * All connections are checked every few seconds, without timers for each request. Waiting for us or for an upstream
 * does not count against a client: an idle stream has nothing waiting, and a paused upload is not slow. Must be called
 * before the server listens. Returns a function that runs one check, which also runs periodically.
 */
export function keepPace(server: Server, { stall, uploadRate }: PaceOptions): () => Promise<void> {
  const lookEvery = Math.min(LOOK_EVERY, Math.max(1, stall * 1000) / 2);
  const watched = new Map<Socket, Watched>();

  server.on('connection', (socket) => {
    watched.set(socket, { delivered: 0, queued: undefined, quietLooks: 0, upload: undefined });
    socket.once('close', () => watched.delete(socket));
  });
  server.prependListener('request', (request: IncomingMessage) => {
    const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
    if (uploadRate === 0 || (coding === undefined && (length === undefined || length === '0'))) return;
    const { socket } = request;
    const state = watched.get(socket);
    if (state !== undefined) state.upload = { request, received: socket.bytesRead, looks: 0 };
  });

  const lookAtReaders = async (): Promise<void> => {
    const quiet: [Socket, Watched][] = [];
    for (const [socket, state] of watched) {
      // Queued bytes count as written.
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
    for (const [socket, state] of watched) {
      const { upload } = state;
      if (upload === undefined) continue;
      if (upload.request.complete || upload.request.closed) state.upload = undefined;
      else if (upload.request.readableFlowing !== true) {
        upload.looks = 0;
        upload.received = socket.bytesRead;
      } else if (++upload.looks === WINDOW) {
        if (socket.bytesRead - upload.received < (uploadRate * WINDOW * lookEvery) / 1000) socket.destroy();
        upload.looks = 0;
        upload.received = socket.bytesRead;
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
