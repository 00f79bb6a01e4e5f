/** Milliseconds before we stop waiting: what is applied in time is also answered in time. */
const MARGIN = 100;
/** Milliseconds a difference of clocks is believed: clocks drift, and a slot of a Cluster may move to another server. */
const BELIEVED = 10_000;

/**
 * Until when, by the server's clock, a commit may be applied. A server that hung works off what was sent to it when it goes
 * on: without a deadline it would use up codes and refresh tokens whose requests were told to try again.
 */
export class RedisDeadline {
  /** The server's clock less our monotonic one, and when that was found. */
  #ahead: { readonly milliseconds: number; readonly at: number } | undefined;

  /** In: how to ask the server for its TIME, and how many milliseconds the commit has left. Out: Unix milliseconds. */
  async next(askTime: () => Promise<readonly (string | number)[]>, left: () => number): Promise<number> {
    if (this.#ahead === undefined || performance.now() - this.#ahead.at > BELIEVED) {
      const [seconds, microseconds] = await askTime();
      const at = performance.now();
      this.#ahead = { milliseconds: Number(seconds) * 1000 + Number(microseconds) / 1000 - at, at };
    }
    return Math.floor(this.#ahead.milliseconds + performance.now() + left() - MARGIN);
  }

  /** Has the server asked again: it is another one, its clock was set, or a deadline passed for another reason. */
  forget(): void {
    this.#ahead = undefined;
  }
}
