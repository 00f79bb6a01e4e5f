import type { EndStep, RequestInFlight, RequestList } from '../http/requests-in-flight.ts';
import { endAnswer } from '../upstream/answer-stream.ts';

/** What one generation has in flight: requests, and the work on them. */
export interface InFlight {
  /** Counts a request until `closed`. `endSteps` end with `closed`. */
  take(request: RequestInFlight, endSteps: readonly EndStep[]): void;
  readonly closed: EndStep;
  /** Counts work until it is done. It must not reject. */
  hold(work: Promise<void>): void;
  /** Whether nothing is left right now. */
  readonly idle: boolean;
  /** Resolves when nothing is left. Call it once no more requests arrive. */
  over(): Promise<void>;
  /** Ends the remaining responses: event streams cleanly, all others cut off, so that none looks complete. */
  endAnswers(): void;
}

export function createInFlight(requests: RequestList): InFlight {
  let left = 0;
  let last: (() => void) | undefined;
  const done = (): void => {
    left -= 1;
    if (left === 0) last?.();
  };

  const own: InFlight = {
    take(request, endSteps) {
      request.owner = own;
      request.endSteps = endSteps;
      left += 1;
    },
    closed: done,
    hold(work) {
      left += 1;
      void work.then(done);
    },
    get idle() {
      return left === 0;
    },
    over: () =>
      new Promise((resolve) => {
        last = resolve;
        if (left === 0) resolve();
      }),
    endAnswers() {
      for (const { owner, response } of [...requests.all]) {
        if (owner === own && response !== undefined) endAnswer(response);
      }
    },
  };
  return own;
}
