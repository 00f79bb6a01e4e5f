import { setTimeout as pause } from 'node:timers/promises';
import type { Store } from './store.ts';

/** Milliseconds that one batch is to take: what a request that comes meanwhile waits for, at most some times over. */
const AIM = 10;
const FIRST = 50;
const LEAST = 10;
const MOST = 1000;

/** How the time is taken, and spent: in tests, otherwise. Milliseconds. */
export interface Pace {
  readonly now: () => number;
  /** Lets others work for so long. */
  readonly rest: (milliseconds: number) => Promise<unknown>;
}

const REAL: Pace = { now: () => performance.now(), rest: (milliseconds) => pause(milliseconds) };

/**
 * Deletes every expired entry and gives the space back, a batch at a time. Each batch is as large as the one before has
 * shown to take some ten milliseconds on this disk and under this load, and after each the sweep rests for as long as it
 * has worked: requests have at least half of the time. `stopped` ends it early. Resolves with how many entries it deleted.
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
      // At most doubled: one batch that happened to be quick says little of the next.
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
