import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { whenClosed } from '../http/when-closed.ts';
import { endAnswer } from '../upstream/answer-stream.ts';

/** A server's way out. */
export interface Drain {
  /** From now on each answer is the last of its connection, so that clients and balancers find another gate. */
  announce(): void;
  /**
   * Takes no more connections and closes those that are idle; resolves when all are gone. What is in flight may end for
   * at most `seconds`. Then event streams are ended and all other answers are cut, so that none looks whole.
   */
  finish(seconds: number): Promise<void>;
}

/** How often connections that have become idle are looked for. */
const LOOK_EVERY = 50;
/** A connection that was just made may still send its request; one that stays silent is only kept in stock. */
const SILENCE = 1_000;
/** What the last bytes of an ended stream may take to leave. */
const LAST_BYTES = 500;

/** In: a server that nobody else drains. Must be called before it listens. */
export function drainOf(server: Server): Drain {
  const sockets = new Set<Socket>();
  const answers = new Set<ServerResponse>();
  let announced = false;

  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.prependListener('request', (_request, response) => {
    answers.add(response);
    whenClosed(response, () => answers.delete(response));
    if (announced) response.shouldKeepAlive = false;
  });

  const announce = (): void => {
    announced = true;
    for (const answer of answers) if (!answer.headersSent) answer.shouldKeepAlive = false;
  };

  return {
    announce,

    finish(seconds) {
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
          for (const answer of answers) endAnswer(answer);
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
