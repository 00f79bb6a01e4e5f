import { randomUUID } from 'node:crypto';
import { type Clock, type Store, unixSeconds } from '../storage/store.ts';

/**
 * Seconds for which an answer can still be given again when the process that gave it did not live to see the end of its
 * window: an outage of a night. The same for a code or refresh token that was exchanged.
 */
const LONGEST_OUTAGE = 24 * 60 * 60;

const KIND = 'AnswerWatch';

/** In how many steps the ends of a window's answers are written down when there are many: one write for each. */
const STEPS = 4;

/** Seconds that an answer, and what was exchanged for it, is kept. In: the window in seconds; 0: nothing is kept. */
export function answerKept(window: number): number {
  return window === 0 ? 0 : window + LONGEST_OUTAGE;
}

/**
 * Tells the answers whose window is over from those whose process died first. Clients retry when the gate is back, and
 * that may take longer than the window: a window counts only if the process that gave the answer lived, and could write to
 * the store, until its end. Then it says so in the store, in one write for all answers of a quarter of the window. What a
 * process never said is not over, for any replica and after any restart.
 */
export interface AnswerWatch {
  /** Who gives answers now. Another one after the store has failed, as if the process had died then. */
  readonly id: () => string;
  /** An answer is about to be given: its window is watched. */
  answered(): void;
  /** Whether the window of an answer is over. In: who gave it, and when, in milliseconds. */
  isOver(by: string, answeredAt: number): Promise<boolean>;
}

/** In: the window in milliseconds, more than 0. */
export function answerWatch(store: Store, clock: Clock, window: number): AnswerWatch {
  const step = window / STEPS;
  /** When windows end, oldest first. */
  let ends: number[] = [];
  let id = randomUUID();
  let timer: NodeJS.Timeout | undefined;

  const write = async (at: number): Promise<void> => {
    const expiresAt = unixSeconds(clock) + answerKept(window / 1000);
    const entry = { kind: KIND, id, payload: JSON.stringify({ at }), expiresAt, references: {} };
    try {
      await store.commit([{ op: 'put', entry }]);
    } catch {
      // Clients may not have had their answers either. The failure itself is counted where the store is observed.
      id = randomUUID();
    }
  };

  const waitForNext = (): void => {
    const [next] = ends;
    if (timer !== undefined || next === undefined) return;
    timer = setTimeout(
      () => {
        const now = clock();
        ends = ends.filter((end) => end > now);
        void write(now).finally(() => {
          timer = undefined;
          waitForNext();
        });
      },
      // Never longer than a window, whatever becomes of the clock.
      Math.min(window + step, Math.max(0, next - clock())),
    ).unref();
  };

  return {
    id: () => id,

    answered() {
      const end = Math.ceil((clock() + window) / step) * step;
      if (ends.at(-1) !== end) ends.push(end);
      waitForNext();
    },

    async isOver(by, answeredAt) {
      if (clock() < answeredAt + window) return false;
      if (by === id) return true;
      const said = await store.get(KIND, by);
      return said !== undefined && (JSON.parse(said.payload) as { at: number }).at >= answeredAt + window;
    },
  };
}
