import { setTimeout as pause } from 'node:timers/promises';
import type { Store } from './store.ts';

/** Target duration of one batch in milliseconds. A request that arrives meanwhile waits at most a few times as long. */
const AIM = 10;
const FIRST = 50;
const LEAST = 10;
const MOST = 1000;

/** How to measure and spend time; tests replace it. In milliseconds. */
export interface Pace {
  readonly now: () => number;
  /** Pauses the sweep for this long. */
  readonly rest: (milliseconds: number) => Promise<unknown>;
}

const REAL: Pace = { now: () => performance.now(), rest: (milliseconds) => pause(milliseconds) };

/**
 * Deletes every expired entry and returns the disk space, one batch at a time. The batch size is adjusted so that a
 * batch takes about ten milliseconds on this disk under this load. After each batch the sweep pauses for as long as it
 * has worked, so requests get at least half of the time. `stopped` ends it early. Resolves with how many entries it
 * deleted.
 */
export async function sweepAll(
  store: Pick<Store, 'sweep' | 'compact'>,
  stopped: () => boolean,
  { now, rest }: Pace = REAL,
): Promise<number> {
  const paced = async (step: (size: number) => Promise<number>, isLast: (done: number, size: number) => boolean) => {
    let total = 0;
    let size = FIRST;
    while (!stopped()) {
      const started = now();
      const done = await step(size);
      const took = now() - started;
      total += done;
      if (isLast(done, size)) break;
      await rest(took);
      // At most doubled: one fast batch says little about the next.
      size = Math.round(Math.min(Math.max(size * Math.min(AIM / took, 2), LEAST), MOST));
    }
    return total;
  };
  const swept = await paced(
    (size) => store.sweep(size),
    (done, size) => done < size,
  );
  await paced(
    (size) => store.compact(size),
    (done) => done === 0,
  );
  return swept;
}
