import { type ProgressLine, progressIn } from '../upstream/answer-lines.ts';
import { cleanValue } from './cleaning.ts';

/** What a client is sent, with the text cleaned. Rejects if the client has left. */
type Notify = (progress: ProgressLine) => Promise<void>;

/** Progress of one call, on its way to the client. */
export type ProgressRelay = ReturnType<typeof relayProgress>;

const LONGEST_MESSAGE = 300;
/** Notifications at once, and then each second: as many as a person can read. */
const MOST_AT_ONCE = 8;
const PER_SECOND = 4;

/**
 * Relays the progress of one call, in order. Left out are lines that come too fast, and those whose `progress` does not
 * increase, which the protocol forbids.
 * @param now monotonic clock, in milliseconds
 */
export function relayProgress(notify: Notify, now: () => number) {
  let last = Number.NEGATIVE_INFINITY;
  let left = MOST_AT_ONCE;
  let filled = now();
  let sent = Promise.resolve();
  const send = async ({ message, ...progress }: ProgressLine): Promise<void> => {
    const text = message === undefined ? {} : { message: String(await cleanValue(message, LONGEST_MESSAGE)) };
    await notify({ ...progress, ...text });
  };
  return {
    onLine(line: string): boolean {
      const progress = progressIn(line);
      if (progress === undefined) return false;
      const at = now();
      left = Math.min(MOST_AT_ONCE, left + ((at - filled) / 1000) * PER_SECOND);
      filled = at;
      if (progress.progress > last && left >= 1) {
        left -= 1;
        last = progress.progress;
        // A client that has left gets no result either.
        sent = sent.then(() => send(progress)).catch(() => undefined);
      }
      return true;
    },
    /** Resolves when everything has been sent, so that the result comes last. Never rejects. */
    sent: (): Promise<void> => sent,
  };
}
