import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../operations/log.ts';
import { StoreNotReady } from '../storage/open-failure.ts';

/** Milliseconds between two tries. */
const EVERY = 1000;

export interface StoreWait {
  readonly log: Pick<Log, 'warn'>;
  /** Called once if the store has to be waited for. Returns how to end what it has begun. */
  readonly waiting: () => Promise<() => Promise<void>>;
  /** How long to wait, in milliseconds. */
  readonly patience?: number;
}

/**
 * Runs the check of the store until it passes, while what it reports may pass: Redis starts later than the gate, or is
 * loading its data. Throws what the check throws: StoreNotReady after a minute, everything else at once.
 */
export async function awaitStore<T>(
  check: () => Promise<T>,
  { log, waiting, patience = 60_000 }: StoreWait,
): Promise<T> {
  const until = performance.now() + patience;
  let end: (() => Promise<void>) | undefined;
  try {
    for (;;) {
      try {
        return await check();
      } catch (thrown) {
        if (!(thrown instanceof StoreNotReady) || performance.now() >= until) throw thrown;
        if (end === undefined) {
          log.warn({ reason: thrown.message }, `waiting for the store, for up to ${patience / 1000} seconds`);
          end = await waiting();
        }
      }
      await sleep(EVERY);
    }
  } finally {
    await end?.();
  }
}
