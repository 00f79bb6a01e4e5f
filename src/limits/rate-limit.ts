import { GatewayError } from '../errors.ts';
import type { Counters, Rate, Tally } from '../storage/counters.ts';
import type { Clock } from '../storage/store.ts';
import { type LimitName, leftField, policyField } from './limit-fields.ts';

/** The fields that tell a caller how much is left: names and values in turn. */
export type LimitFields = readonly string[];

const MOST_TOLD = 10_000;

export interface RateLimit {
  /** Counts one request of `whose`. Out: what is left, told. Throws GatewayError `too_many_requests`. */
  count(whose: string): LimitFields;
  /** Throws GatewayError `too_many_requests` when nothing is left; counts nothing. */
  check(whose: string): void;
  /** Counts one request of `whose`, whatever is left. */
  add(whose: string): void;
}

/**
 * One limit. In: its name; where it is counted by itself ('' for everywhere); how much may be asked for, undefined when
 * that is unlimited; and what to call with whom it has stopped, once for each of their windows, and at each request that it stops. Out: undefined then.
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

  /** Until when each of those who were stopped has been told of. */
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
