import type { EventEmitter } from 'node:events';
import { GatewayError } from '../errors.ts';
import { countUntilClosed } from '../http/when-closed.ts';

/** Counts what one caller has open, until it closes. Throws `too_many_requests` beyond the limit, without counting. */
export type OpenRequests = (whose: string, opened: EventEmitter) => void;

/** Open responses and sockets by caller. */
export type OpenCounts = Map<string, number>;

/** Seconds. A guess, since streams end at any time. */
const RETRY_AFTER = '1';

/**
 * Limits each caller to `most` open responses or sockets. `open` holds the counts so far, and `limited` is called for
 * each refusal.
 */
export function openRequests(most: number, open: OpenCounts, limited: () => void): OpenRequests {
  return (whose, opened) => {
    if ((open.get(whose) ?? 0) >= most) {
      limited();
      throw new GatewayError('too_many_requests', {
        message: 'Too many requests are open at the same time. End some of them first.',
        headers: { 'retry-after': RETRY_AFTER },
      });
    }
    countUntilClosed(open, whose, opened);
  };
}
