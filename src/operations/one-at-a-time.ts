import type { Log } from './log.ts';

/**
 * Wraps periodic work so that a run that outlasts its interval does not overlap with the next. `complaint` is logged
 * when the work fails. `over()` resolves when a run in progress has ended.
 */
export function oneAtATime(work: () => Promise<unknown>, complaint: string, log: Log) {
  let running: Promise<unknown> | undefined;
  const turn = (): void => {
    running ??= work()
      .catch((error: unknown) => log.error({ err: error }, complaint))
      .finally(() => {
        running = undefined;
      });
  };
  return Object.assign(turn, { over: async () => running });
}
