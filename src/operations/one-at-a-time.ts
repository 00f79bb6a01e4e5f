import type { Log } from './log.ts';

/**
 * Wraps periodic work so that a run that outlasts its interval does not overlap with the next. `complaint` is logged
 * when the work fails.
 */
export function oneAtATime(work: () => Promise<unknown>, complaint: string, log: Log): () => void {
  let busy = false;
  return () => {
    if (busy) return;
    busy = true;
    work()
      .catch((error: unknown) => log.error({ err: error }, complaint))
      .finally(() => {
        busy = false;
      });
  };
}
