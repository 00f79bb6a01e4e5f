import { GatewayError } from '../errors.ts';
import { addOpen, removeOpen } from '../http/when-closed.ts';

/** Open responses and sockets by caller. */
export type OpenCounts = Map<string, number>;

/** Seconds. A guess, since streams end at any time. */
const RETRY_AFTER = '1';

/**
 * Limits each caller to `most` open responses or sockets. `open` holds the counts so far, and `limited` is called for
 * each refusal.
 */
export function openRequests(most: number, open: OpenCounts, limited: () => void) {
  return {
    /** Throws `too_many_requests` beyond the limit, without counting. */
    enter(whose: string): void {
      if ((open.get(whose) ?? 0) >= most) {
        limited();
        throw new GatewayError('too_many_requests', {
          message: 'Too many requests are open at the same time. End some of them first.',
          headers: { 'retry-after': RETRY_AFTER },
        });
      }
      addOpen(open, whose);
    },
    leave: (whose: string) => removeOpen(open, whose),
  };
}
