import { GatewayError } from '../errors.ts';
import type { Counters, Rate, Tally } from '../storage/counters.ts';
import type { Clock } from '../storage/store.ts';

/** The kind of limit, as clients see it. */
export type LimitName = 'address' | 'member' | 'client' | 'attempts';

/** RateLimit header fields: names and values in turn. */
export type LimitFields = readonly string[];

const MOST_REPORTED = 10_000;

export type RateLimit = NonNullable<ReturnType<typeof rateLimit>>;

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
  tripped: (name: LimitName, whose: string) => void,
  stopped: (name: LimitName) => void,
) {
  if (rate === undefined) return undefined;
  const { requests } = rate;
  // RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers-10 section 3): requests per window, and the window in seconds.
  const policy = `"${name}";q=${requests};w=${Math.ceil(rate.per)}`;
  const prefix = `${name} ${place} `;

  /** The callers reported to `tripped`, and until when not to report them again. */
  const reported = new Map<string, number>();

  const refusal = (whose: string, { resetsAt }: Tally): GatewayError => {
    stopped(name);
    if ((reported.get(whose) ?? 0) <= clock()) {
      if (reported.size >= MOST_REPORTED) reported.clear();
      reported.set(whose, resetsAt);
      tripped(name, whose);
    }
    const wait = Math.max(1, Math.ceil((resetsAt - clock()) / 1000));
    return new GatewayError('too_many_requests', {
      headers: { 'retry-after': String(wait), 'ratelimit-policy': policy, ratelimit: leftField(name, 0, wait * 1000) },
    });
  };

  return {
    /** Counts a request. Throws GatewayError `too_many_requests` beyond the limit. */
    count(whose: string): Tally {
      const tally = counters.add(prefix + whose, rate);
      if (tally.count > requests) throw refusal(whose, tally);
      return tally;
    },
    /** What is left after a request was counted. */
    left({ count, resetsAt }: Tally): LimitFields {
      return ['ratelimit-policy', policy, 'ratelimit', leftField(name, requests - count, resetsAt - clock())];
    },
    /** Throws GatewayError `too_many_requests` when the quota is used up. Counts nothing. */
    check(whose: string): void {
      const tally = counters.peek(prefix + whose, rate);
      if (tally.count >= requests) throw refusal(whose, tally);
    },
    /** Counts a request without checking the limit. */
    add: (whose: string) => void counters.add(prefix + whose, rate),
  };
}

/** RateLimit (section 4 of the draft): remaining requests, and seconds until the quota is reset. */
function leftField(name: LimitName, left: number, milliseconds: number): string {
  return `"${name}";r=${Math.max(0, left)};t=${Math.max(0, Math.ceil(milliseconds / 1000))}`;
}
