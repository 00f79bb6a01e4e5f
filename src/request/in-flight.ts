import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { whenClosed } from '../http/when-closed.ts';
import { endAnswer } from '../upstream/answer-stream.ts';

/** Requests in flight: their responses, the work on them, and sockets that were taken over. */
export interface InFlight {
  /** Counts a response until it is closed and the work on it is done. The work must not reject. */
  hold(answer: ServerResponse, work: Promise<void>): void;
  /** Counts a socket until it is closed. */
  holdSocket(socket: Duplex): void;
  /** Resolves when nothing is left. Call it once no more requests arrive. */
  over(): Promise<void>;
  /** Ends the remaining responses: event streams cleanly, all others cut off, so that none looks complete. */
  endAnswers(): void;
}

export function createInFlight(): InFlight {
  const answers = new Set<ServerResponse>();
  let left = 0;
  let last: (() => void) | undefined;

  const begin = (): (() => void) => {
    left += 1;
    return () => {
      left -= 1;
      if (left === 0) last?.();
    };
  };

  return {
    hold(answer, work) {
      answers.add(answer);
      const done = begin();
      whenClosed(answer, () => {
        answers.delete(answer);
        done();
      });
      void work.then(begin());
    },
    holdSocket(socket) {
      if (!socket.closed) whenClosed(socket, begin());
    },
    over: () =>
      new Promise((resolve) => {
        last = resolve;
        if (left === 0) resolve();
      }),
    endAnswers() {
      for (const answer of answers) endAnswer(answer);
    },
  };
}
