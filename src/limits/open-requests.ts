import type { EventEmitter } from 'node:events';
import { GatewayError } from '../errors.ts';
import { whenClosed } from '../http/when-closed.ts';

/** Counts what one caller has open at the same time. */
export type OpenRequests = (whose: string, opened: EventEmitter) => void;

/** How much each caller has open. */
export type OpenCounts = Map<string, number>;

/** Seconds: nobody knows when a stream ends. */
const RETRY_AFTER = '1';

/**
 * In: how much one caller may have open, what each has open already, and whom to tell of each that is stopped. Out: counts
 * something opened by `whose` until it closes (a response or a socket does, however it ends); throws GatewayError
 * `too_many_requests` when that is too much, and counts nothing.
 */
export function openRequests(most: number, open: OpenCounts = new Map(), limited: () => void = () => {}): OpenRequests {
  return (whose, opened) => {
    const count = open.get(whose) ?? 0;
    if (count >= most) {
      limited();
      throw new GatewayError('too_many_requests', {
        message: 'Too many requests are open at the same time. End some of them first.',
        headers: { 'retry-after': RETRY_AFTER },
      });
    }
    open.set(whose, count + 1);
    whenClosed(opened, () => {
      const left = (open.get(whose) ?? 0) - 1;
      if (left > 0) open.set(whose, left);
      else open.delete(whose);
    });
  };
}
