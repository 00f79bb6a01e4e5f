/** Something that must happen within a fixed time from now. */
export interface Waiting {
  /** Called when the time is over. */
  expired(): void;
  deadline: number;
  earlier: Waiting | undefined;
  later: Waiting | undefined;
}

/**
 * Deadlines that are all equally far away, and are therefore in order: setting and clearing one changes two links. One
 * coarse timer of the owner calls `expire`.
 */
export class Deadlines {
  readonly #after: number;
  #first: Waiting | undefined;
  #last: Waiting | undefined;

  /** @param after milliseconds */
  constructor(after: number) {
    this.#after = after;
  }

  /** Sets the deadline of something that has none. */
  set(waiting: Waiting, now: number): void {
    waiting.deadline = now + this.#after;
    waiting.earlier = this.#last;
    if (this.#last === undefined) this.#first = waiting;
    else this.#last.later = waiting;
    this.#last = waiting;
  }

  /** Has no effect on something without a deadline. */
  clear(waiting: Waiting): void {
    if (waiting.deadline === 0) return;
    const { earlier, later } = waiting;
    if (earlier === undefined) this.#first = later;
    else earlier.later = later;
    if (later === undefined) this.#last = earlier;
    else later.earlier = earlier;
    waiting.deadline = 0;
    waiting.earlier = undefined;
    waiting.later = undefined;
  }

  expire(now: number): void {
    for (let first = this.#first; first !== undefined && first.deadline <= now; first = this.#first) {
      this.clear(first);
      first.expired();
    }
  }
}
