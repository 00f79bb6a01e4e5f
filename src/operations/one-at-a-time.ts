import type { Log } from './log.ts';

/** Work that takes longer than its interval is not begun again meanwhile. In: what the log says when it fails. */
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
