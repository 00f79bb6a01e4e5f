/** The rate of a token bucket: `perSecond` on average, and `burst` at once after a pause. */
export interface BucketRate {
  readonly perSecond: number;
  readonly burst: number;
}

/** A token bucket. Times are milliseconds since the epoch. It is not refilled if the clock is set back. */
export class TokenBucket {
  readonly #rate: BucketRate;
  #tokens: number;
  #filledAt: number;

  constructor(rate: BucketRate, now: number) {
    this.#rate = rate;
    this.#tokens = rate.burst;
    this.#filledAt = now;
  }

  /** How full it is at `now`, from 0 to 1. */
  level(now: number): number {
    return this.#refill(now) / this.#rate.burst;
  }

  has(now: number): boolean {
    return this.#refill(now) >= 1;
  }

  take(now: number): void {
    this.#tokens = this.#refill(now) - 1;
  }

  giveBack(): void {
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + 1);
  }

  #refill(now: number): number {
    const seconds = Math.max(0, now - this.#filledAt) / 1000;
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + seconds * this.#rate.perSecond);
    this.#filledAt = now;
    return this.#tokens;
  }
}
