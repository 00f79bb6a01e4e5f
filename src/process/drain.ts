import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { RequestsInFlight } from '../http/requests-in-flight.ts';
import { endAnswer } from '../upstream/answer-stream.ts';

/** Milliseconds between two searches for idle connections. */
const LOOK_EVERY = 50;
/**
 * A new connection may still send its request. One that has sent nothing after this many milliseconds is a client's
 * spare.
 */
const SILENCE = 1_000;
/** Milliseconds for the last bytes of an ended stream. */
const LAST_BYTES = 500;

/** Call it before the server listens, and only once per server. */
export function drainOf(server: Server, inFlight: RequestsInFlight) {
  const sockets = new Set<Socket>();
  let announced = false;

  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.prependListener('request', (_request, response) => {
    if (announced) response.shouldKeepAlive = false;
  });

  const answers = () => inFlight.all.filter((one) => one.server === server).flatMap(({ response }) => response ?? []);

  const announce = (): void => {
    announced = true;
    for (const answer of answers()) if (!answer.headersSent) answer.shouldKeepAlive = false;
  };

  return {
    /**
     * From now on, each response is the last on its connection, so that clients and load balancers connect to another
     * gate.
     */
    announce,

    /**
     * Stops accepting connections and closes idle ones. Resolves when all are closed. Requests in flight get up to
     * `seconds`; then event streams are ended cleanly and all other responses are cut off, so that none looks complete.
     */
    finish(seconds: number): Promise<void> {
      announce();
      const started = performance.now();
      const closeIdle = (): void => {
        server.closeIdleConnections();
        if (performance.now() - started < SILENCE) return;
        for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      };
      return new Promise((resolve) => {
        const looking = setInterval(closeIdle, LOOK_EVERY);
        let last: NodeJS.Timeout | undefined;
        const grace = setTimeout(() => {
          for (const answer of answers()) endAnswer(answer);
          last = setTimeout(() => server.closeAllConnections(), LAST_BYTES);
        }, seconds * 1000);
        server.close(() => {
          clearInterval(looking);
          clearTimeout(grace);
          clearTimeout(last);
          resolve();
        });
      });
    },
  };
}
