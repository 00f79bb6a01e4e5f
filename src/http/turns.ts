import { setImmediate } from 'node:timers/promises';

/** Milliseconds of work per turn of the event loop. Together with the step that exceeds it, far below 50. */
const TURN = 8;

/**
 * Splits long work for one request into steps, so that other requests can run in between. Time is counted from the
 * creation of this object.
 */
export class Turns {
  #since = performance.now();

  /** Whether the work should yield now: `await next()` before the next step. */
  get isOver(): boolean {
    return performance.now() - this.#since > TURN;
  }

  async next(): Promise<void> {
    await setImmediate();
    this.#since = performance.now();
  }
}
