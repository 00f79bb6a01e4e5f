import { setTimeout as pause } from 'node:timers/promises';
import { GatewayError } from '../errors.ts';

const SQLITE_BUSY = 5;
/** Milliseconds that work is tried for while another process has the file. */
const PATIENCE = 5000;
/** Milliseconds between two tries: about what one commit takes on a disk of today. Not the same for all who wait. */
const LEAST = 1;
const SPREAD = 3;

/** Runs work on a file that other processes write, too. Throws what it throws, and when it was busy for too long. */
export type InTurn = <T>(work: () => T) => Promise<T>;

/**
 * Tries again what finds the file busy. SQLite would do so as well, but asleep: nothing else would be answered meanwhile.
 * What is free is done at once. In: whether one waits behind another, in the order in which they came: writes do, since
 * only one of them can be next.
 */
export function takingTurns({ queued }: { readonly queued: boolean }): InTurn {
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();

  const insist = async <T>(work: () => T, until: number): Promise<T> => {
    for (;;) {
      try {
        return work();
      } catch (thrown) {
        if (!isBusy(thrown) || performance.now() > until) throw thrown;
      }
      await pause(LEAST + Math.random() * SPREAD);
    }
  };

  return async (work) => {
    if (!queued || waiting === 0) {
      try {
        return work();
      } catch (thrown) {
        if (!isBusy(thrown)) throw thrown;
      }
    }
    const until = performance.now() + PATIENCE;
    if (!queued) return insist(work, until);
    waiting += 1;
    const turn = last.then(() => insist(work, until));
    last = turn.catch(() => undefined);
    return turn.finally(() => {
      waiting -= 1;
    });
  };
}

/** As StoreHealth reports what SQLite says. */
function isBusy(thrown: unknown): boolean {
  if (!(thrown instanceof GatewayError)) return false;
  const { errcode = 0 } = (thrown.cause ?? {}) as { errcode?: number };
  // The low byte is the primary code, what is above it the finer one.
  return (errcode & 0xff) === SQLITE_BUSY;
}
