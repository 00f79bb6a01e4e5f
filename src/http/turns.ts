import { setImmediate } from 'node:timers/promises';

/** Milliseconds of work in one turn of the event loop: with what one step takes beyond it, far less than 50. */
const TURN = 8;

/**
 * Work in turns: whoever does much for one request asks between two steps whether other requests wait, and lets them go
 * first. Counts processor time from the moment it was made.
 */
export class Turns {
  #since = performance.now();

  /** Whether the work has had its time for now: `await next()` before the next step. */
  get isOver(): boolean {
    return performance.now() - this.#since > TURN;
  }

  async next(): Promise<void> {
    await setImmediate();
    this.#since = performance.now();
  }
}
