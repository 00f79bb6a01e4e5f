import { GatewayError } from '../errors.ts';
import type { Counters, Rate, Tally } from '../storage/counters.ts';
import type { Clock } from '../storage/store.ts';
import { type LimitName, leftField, policyField } from './limit-fields.ts';

/** RateLimit header fields: names and values in turn. */
export type LimitFields = readonly string[];

const MOST_TOLD = 10_000;

export interface RateLimit {
  /** Counts a request and returns the RateLimit fields. Throws GatewayError `too_many_requests` beyond the limit. */
  count(whose: string): LimitFields;
  /** Throws GatewayError `too_many_requests` when the quota is used up. Counts nothing. */
  check(whose: string): void;
  /** Counts a request without checking the limit. */
  add(whose: string): void;
}

/**
 * One limit; undefined when `rate` is. `place` is the route for which it is counted separately, or '' for all routes.
 * `tripped` is called once per caller and window, `stopped` for each request that is stopped.
 */
export function rateLimit(
  name: LimitName,
  place: string,
  rate: Rate | undefined,
  counters: Counters,
  clock: Clock,
  tripped: (name: LimitName, whose: string) => void = () => {},
  stopped: (name: LimitName) => void = () => {},
): RateLimit | undefined {
  if (rate === undefined) return undefined;
  const { requests } = rate;
  const policy = policyField(name, rate);
  const prefix = `${name} ${place} `;

  /** The callers reported to `tripped`, and until when not to report them again. */
  const told = new Map<string, number>();

  const refusal = (whose: string, { resetsAt }: Tally): GatewayError => {
    stopped(name);
    if ((told.get(whose) ?? 0) <= clock()) {
      if (told.size >= MOST_TOLD) told.clear();
      told.set(whose, resetsAt);
      tripped(name, whose);
    }
    const wait = Math.max(1, Math.ceil((resetsAt - clock()) / 1000));
    return new GatewayError('too_many_requests', {
      headers: { 'retry-after': String(wait), 'ratelimit-policy': policy, ratelimit: leftField(name, 0, wait * 1000) },
    });
  };

  return {
    count(whose) {
      const tally = counters.add(prefix + whose, rate);
      if (tally.count > requests) throw refusal(whose, tally);
      const left = leftField(name, requests - tally.count, tally.resetsAt - clock());
      return ['ratelimit-policy', policy, 'ratelimit', left];
    },
    check(whose) {
      const tally = counters.peek(prefix + whose, rate);
      if (tally.count >= requests) throw refusal(whose, tally);
    },
    add: (whose) => void counters.add(prefix + whose, rate),
  };
}
