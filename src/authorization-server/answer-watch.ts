import { randomBytes } from 'node:crypto';
import { outsideRequests } from '../http/current-request.ts';
import { type Clock, jsonEntry, readJson, type Store, unixSeconds } from '../storage/store.ts';

/**
 * Seconds for which an answer can still be given again if the process that gave it died before the end of its window.
 * Covers an outage of a night. Exchanged codes are kept as long.
 */
const LONGEST_OUTAGE = 24 * 60 * 60;

const KIND = 'AnswerWatch';

/** A window has this many steps. Its end is rounded up to a step, so that many answers share one write. */
const STEPS = 4;

/**
 * Seconds for which an answer may be given again, and an exchanged code is kept.
 * @param window - in seconds; 0: nothing is kept
 */
export function answerKept(window: number): number {
  return window === 0 ? 0 : window + LONGEST_OUTAGE;
}

/**
 * Tells whether an answer's window is over, or was cut short because the process that gave the answer died. Clients
 * retry when the gate is back, which may take longer than the window, so a window counts only if that process lived,
 * and could write to the store, until its end. The process then records this in the store, in one write for all answers
 * of a quarter of the window. A window without such a record is not over, for any replica and after any restart.
 *
 * When a write or a token request fails, the windows that were open stay open, until one window after the store can be
 * written again: clients retry then.
 * @param window - in milliseconds, more than 0
 */
export function answerWatch(store: Store, clock: Clock, window: number) {
  const step = window / STEPS;
  const id = randomBytes(12).toString('base64url');
  const endOfWindow = (): number => Math.ceil((clock() + window) / step) * step;
  /** The ends of the watched windows, oldest first. */
  let ends: number[] = [];
  /** Windows that ended until then are over. */
  let recorded = 0;
  /** All later windows stay open until then: Infinity while the store cannot be written. */
  let openUntil = 0;
  let timer: NodeJS.Timeout | undefined;

  const write = async (): Promise<void> => {
    const now = clock();
    const at = now < openUntil ? recorded : now;
    const expiresAt = unixSeconds(clock) + answerKept(window / 1000);
    try {
      await store.commit([{ op: 'put', entry: jsonEntry(KIND, id, { at }, expiresAt) }]);
    } catch {
      // The failure itself is counted where the store is observed.
      openUntil = Number.POSITIVE_INFINITY;
      return;
    }
    recorded = at;
    if (openUntil === Number.POSITIVE_INFINITY) {
      openUntil = endOfWindow();
      ends = [openUntil];
    } else ends = ends.filter((end) => end > now);
  };

  const waitForNext = (): void => {
    const [next] = openUntil === Number.POSITIVE_INFINITY ? [clock() + step] : ends;
    if (timer !== undefined || next === undefined) return;
    const due = () =>
      void write().finally(() => {
        timer = undefined;
        waitForNext();
      });
    // Bounded, in case the clock is set back.
    timer = outsideRequests(() => setTimeout(due, Math.min(window + step, Math.max(0, next - clock()))).unref());
  };

  return {
    /** Identifies the process that gives answers now. */
    id,

    /** Starts watching the window of an answer that is about to be given. */
    answered(): void {
      const end = endOfWindow();
      if (ends.at(-1) !== end) ends.push(end);
      waitForNext();
    },

    /** To be called when a token request failed: it may have repeated one whose answer was lost. */
    failed(): void {
      if (window === 0) return;
      openUntil = Number.POSITIVE_INFINITY;
      waitForNext();
    },

    /**
     * Whether the window of an answer is over.
     * @param by - the `id` of the process that gave it
     * @param answeredAt - in milliseconds
     */
    async isOver(by: string, answeredAt: number): Promise<boolean> {
      const end = answeredAt + window;
      if (clock() < end) return false;
      if (by === id) return clock() >= openUntil || recorded >= end;
      const found = await readJson<{ at: number }>(store, KIND, by);
      return found !== undefined && found.at >= end;
    },
  };
}
