/**
 * Milliseconds before our own timeout at which a commit expires: a commit that is applied in time is also answered in
 * time.
 */
const MARGIN = 100;
/**
 * Milliseconds for which a clock difference is reused: clocks drift, and a slot of a Cluster may move to another
 * server.
 */
const BELIEVED = 10_000;

/**
 * Computes the time, by the server's clock, until which a commit may be applied. A server that hung processes what was
 * sent to it when it resumes. Without a deadline it would use up codes and refresh tokens of requests that were already
 * told to try again.
 */
export class RedisDeadline {
  /** The server's clock minus our monotonic clock, and when this was measured. */
  #ahead: { readonly milliseconds: number; readonly at: number } | undefined;

  /**
   * Returns the deadline in Unix milliseconds.
   * @param askTime gets the server's TIME
   * @param left returns how many milliseconds the commit has left
   */
  async next(askTime: () => Promise<readonly (string | number)[]>, left: () => number): Promise<number> {
    if (this.#ahead === undefined || performance.now() - this.#ahead.at > BELIEVED) {
      const [seconds, microseconds] = await askTime();
      const at = performance.now();
      this.#ahead = { milliseconds: Number(seconds) * 1000 + Number(microseconds) / 1000 - at, at };
    }
    return Math.floor(this.#ahead.milliseconds + performance.now() + left() - MARGIN);
  }

  /**
   * Measures again before the next commit: the server may have changed, its clock may have been set, or a deadline was
   * missed for another reason.
   */
  forget(): void {
    this.#ahead = undefined;
  }
}
