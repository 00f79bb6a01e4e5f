import { GatewayError } from '../errors.ts';
import { addOpen, removeOpen } from '../http/when-closed.ts';

/** Counts what each caller has open. */
export interface OpenRequests {
  /** Throws `too_many_requests` beyond the limit, without counting. */
  enter(whose: string): void;
  leave(whose: string): void;
}

/** Open responses and sockets by caller. */
export type OpenCounts = Map<string, number>;

/** Seconds. A guess, since streams end at any time. */
const RETRY_AFTER = '1';

/**
 * Limits each caller to `most` open responses or sockets. `open` holds the counts so far, and `limited` is called for
 * each refusal.
 */
export function openRequests(most: number, open: OpenCounts, limited: () => void): OpenRequests {
  return {
    enter(whose) {
      if ((open.get(whose) ?? 0) >= most) {
        limited();
        throw new GatewayError('too_many_requests', {
          message: 'Too many requests are open at the same time. End some of them first.',
          headers: { 'retry-after': RETRY_AFTER },
        });
      }
      addOpen(open, whose);
    },
    leave: (whose) => removeOpen(open, whose),
  };
}
