import { GatewayError } from '../errors.ts';

export type BreakerState = 'closed' | 'open' | 'half_open';

/**
 * A circuit breaker: after a number of consecutive failures, requests to the upstream fail immediately for a while
 * instead of each waiting for a timeout. Then one probe request is let through to see whether the upstream has
 * recovered.
 */
export type Breaker = ReturnType<typeof createBreaker>;

/** Requests in a row to which an upstream gave no response. */
export interface Outage {
  /** Those that were sent: an open breaker sends only probes. */
  readonly failures: number;
  /** Milliseconds since the first of them failed. */
  readonly lasting: number;
}

/**
 * `failures`: consecutive failures before it opens (0: never). `cooldown`: milliseconds it stays open. `now`: a
 * monotonic clock in milliseconds.
 */
export function createBreaker(options: { failures: number; cooldown: number; now: () => number }) {
  const { failures, cooldown, now } = options;
  let inARow = 0;
  let failingSince: number | undefined;
  let openUntil: number | undefined;
  let probing = false;

  const open = () => {
    openUntil = now() + cooldown;
    probing = false;
  };

  return {
    /**
     * Asks to be let through, and returns whether this request is the probe. Each admission must be followed by exactly
     * one outcome.
     * Throws GatewayError `upstream_unavailable` with Retry-After in seconds.
     */
    admit(): boolean {
      if (openUntil === undefined) return false;
      const left = openUntil - now();
      if (left > 0 || probing) {
        const seconds = Math.max(1, Math.ceil(left / 1000));
        throw new GatewayError('upstream_unavailable', { headers: { 'retry-after': String(seconds) } });
      }
      probing = true;
      return true;
    },
    /** The upstream responded. */
    succeeded(): void {
      inARow = 0;
      failingSince = undefined;
      openUntil = undefined;
      probing = false;
    },
    /** The upstream was unreachable, timed out, or responded with a status that counts as a failure. */
    failed(probe: boolean): void {
      failingSince ??= now();
      inARow += 1;
      if (probe) open();
      // A request that was sent before the breaker opened and fails only now is not new information.
      else if (openUntil === undefined && inARow === failures) open();
    },
    /** The request says nothing about the upstream: the client left, or one of our own limits refused the request. */
    learntNothing(probe: boolean): void {
      if (probe) probing = false;
    },
    state(): BreakerState {
      if (openUntil === undefined) return 'closed';
      return openUntil > now() ? 'open' : 'half_open';
    },
    /** What has failed since the last response, also while a probe is awaited; undefined after a response. */
    outage(): Outage | undefined {
      return failingSince === undefined ? undefined : { failures: inARow, lasting: now() - failingSince };
    },
  };
}
