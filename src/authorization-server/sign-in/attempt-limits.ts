import { networkOf } from '../../http/client-network.ts';
import type { CredentialCheck } from '../../login/connector.ts';
import { foldAccountName } from '../../oauth/account-name.ts';
import type { Counters, Rate } from '../../storage/counters.ts';
import type { Clock } from '../../storage/store.ts';

export interface AttemptLimitsOptions {
  /** Sign-ins tried of one account from one client address; undefined: any number. */
  readonly account: Rate | undefined;
  /** Sign-ins tried from one client address, of whatever accounts; undefined: any number. */
  readonly address: Rate | undefined;
  readonly counters: Counters;
  readonly clock: Clock;
  /** Attempts that have no answer yet, by what they are counted as. */
  readonly underWay: Map<string, number>;
}

interface Limit {
  readonly key: string;
  readonly rate: Rate;
}

/** Seconds until those that are under way may have made room. */
const UNDER_WAY = 1;

/**
 * The same check, so many times: more are told to slow down, and never reach it. Always of an address: who guesses
 * somebody's password keeps only themselves out, never the owner. An attempt counts when it has an answer, right or wrong:
 * an ill backend keeps nobody out once it is well. Until then it takes a place, so that a hundred at once are a hundred.
 */
export function limitAttempts(check: CredentialCheck, options: AttemptLimitsOptions): CredentialCheck {
  const { account, address, counters, clock, underWay } = options;

  const limitsOf = (from: string, username: string): readonly Limit[] => {
    const network = networkOf(from);
    // The backend may take ALICE for alice.
    const name = foldAccountName(username);
    return [
      { key: `sign-in account ${network} ${name}`, rate: account },
      { key: `sign-in address ${network}`, rate: address },
    ].filter((limit): limit is Limit => limit.rate !== undefined);
  };
  /** Out: milliseconds to wait; undefined when there is a place. */
  const waitOf = ({ key, rate }: Limit): number | undefined => {
    const { count, resetsAt } = counters.peek(key, rate);
    if (count >= rate.requests) return resetsAt - clock();
    return count + (underWay.get(key) ?? 0) >= rate.requests ? UNDER_WAY * 1000 : undefined;
  };
  const take = (key: string, places: number) => {
    const now = (underWay.get(key) ?? 0) + places;
    if (now === 0) underWay.delete(key);
    else underWay.set(key, now);
  };

  return async (given) => {
    const limits = limitsOf(given.address, given.username);
    const waits = limits.map(waitOf).filter((wait) => wait !== undefined);
    if (waits.length > 0) return { kind: 'slow_down', retryAfter: Math.max(1, Math.ceil(Math.max(...waits) / 1000)) };
    for (const { key } of limits) take(key, 1);
    try {
      const verdict = await check(given);
      for (const { key, rate } of limits) counters.add(key, rate);
      return verdict;
    } finally {
      for (const { key } of limits) take(key, -1);
    }
  };
}
