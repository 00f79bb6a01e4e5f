import { GatewayError } from '../errors.ts';

export type BreakerState = 'closed' | 'open' | 'half_open';

/**
 * A circuit breaker: an upstream that failed so many times in a row is left alone for a while, and whoever asks for it
 * is told at once instead of waiting for another timeout. Then one request goes through to see whether it is back.
 */
export interface Breaker {
  /**
   * Asks to be let through. Out: whether this request is the one probe. Each admission is followed by one outcome.
   * Throws GatewayError `upstream_unavailable` with Retry-After in seconds.
   */
  admit(): boolean;
  /** The upstream answered. */
  succeeded(): void;
  /** It could not be reached, did not answer in time, or answered what counts as a failure. */
  failed(probe: boolean): void;
  /** The request ended without saying anything of the upstream: the client left, or our own bound refused it. */
  learntNothing(probe: boolean): void;
  state(): BreakerState;
}

/** In: failures in a row before it opens (0: never), milliseconds it stays open, a monotonic clock in milliseconds. */
export function createBreaker(options: { failures: number; cooldown: number; now: () => number }): Breaker {
  const { failures, cooldown, now } = options;
  let inARow = 0;
  let openUntil: number | undefined;
  let probing = false;

  const open = () => {
    openUntil = now() + cooldown;
    probing = false;
  };

  return {
    admit() {
      if (openUntil === undefined) return false;
      const left = openUntil - now();
      if (left > 0 || probing) {
        const seconds = Math.max(1, Math.ceil(left / 1000));
        throw new GatewayError('upstream_unavailable', { headers: { 'retry-after': String(seconds) } });
      }
      probing = true;
      return true;
    },
    succeeded() {
      inARow = 0;
      openUntil = undefined;
      probing = false;
    },
    failed(probe) {
      if (probe) open();
      // What was sent before it opened, and fails only now, says nothing new.
      else if (openUntil === undefined && ++inARow === failures) open();
    },
    learntNothing(probe) {
      if (probe) probing = false;
    },
    state() {
      if (openUntil === undefined) return 'closed';
      return openUntil > now() ? 'open' : 'half_open';
    },
  };
}
