import { setTimeout as pause } from 'node:timers/promises';
import { GatewayError } from '../errors.ts';

const SQLITE_BUSY = 5;
/** Milliseconds to keep trying while another process has the file locked. */
const PATIENCE = 5000;
/** Milliseconds between two tries: about the time of one commit on a modern disk, with jitter. */
const LEAST = 1;
const SPREAD = 3;

/**
 * Runs work on a file that other processes write to as well. Throws what `work` throws, which is SQLite's busy error if
 * the file stays locked for too long.
 */
export type InTurn = <T>(work: () => T) => Promise<T>;

/**
 * Retries work that finds the file busy. SQLite could do this itself, but it would block the thread, and no other
 * request would be answered meanwhile. If the file is free, the work runs immediately.
 * `queued`: whether calls wait for each other, in order. True for writes, since only one can be next.
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

/** StoreHealth wraps SQLite's error as the cause. */
function isBusy(thrown: unknown): boolean {
  if (!(thrown instanceof GatewayError)) return false;
  const { errcode = 0 } = (thrown.cause ?? {}) as { errcode?: number };
  // The low byte is the primary result code; the higher bits belong to the extended code.
  return (errcode & 0xff) === SQLITE_BUSY;
}
