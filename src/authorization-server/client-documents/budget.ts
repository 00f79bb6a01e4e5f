import type { Clock } from '../../storage/store.ts';
import { DocumentFailure } from './failure.ts';

const PER_SECOND = 20;
const AT_ONCE = 100;
const AT_ONCE_PER_HOST = 5;

/**
 * What all fetches of this process together may do, so that nobody turns authorization requests into a flood against
 * another site, or against us: so many a second, so many at once, and of those so many at one host.
 */
export class FetchBudget {
  readonly #clock: Clock;
  readonly #running = new Map<string, number>();
  #atOnce = 0;
  #tokens = PER_SECOND;
  #filledAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#filledAt = clock();
  }

  /** Runs `work` on the budget. Throws DocumentFailure `busy`, without running it, when there is none left. */
  async spend<T>(host: string, work: () => Promise<T>): Promise<T> {
    const running = this.#running.get(host) ?? 0;
    if (running >= AT_ONCE_PER_HOST) throw new DocumentFailure('busy', `${running} fetches are running from ${host}`);
    if (this.#atOnce >= AT_ONCE) throw new DocumentFailure('busy', `${this.#atOnce} fetches are running`);
    this.#refill();
    if (this.#tokens < 1) throw new DocumentFailure('busy', `there were ${PER_SECOND} fetches within a second`);
    this.#tokens -= 1;
    this.#atOnce += 1;
    this.#running.set(host, running + 1);
    try {
      return await work();
    } finally {
      this.#atOnce -= 1;
      const left = (this.#running.get(host) ?? 1) - 1;
      if (left === 0) this.#running.delete(host);
      else this.#running.set(host, left);
    }
  }

  #refill(): void {
    const now = this.#clock();
    const seconds = Math.max(0, now - this.#filledAt) / 1000;
    this.#tokens = Math.min(PER_SECOND, this.#tokens + seconds * PER_SECOND);
    this.#filledAt = now;
  }
}
