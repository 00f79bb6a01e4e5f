import { networkOf } from '../../http/client-network.ts';
import { foldAccountName } from '../../oauth/account-name.ts';
import type { Counters, Rate } from '../../storage/counters.ts';
import type { Clock } from '../../storage/store.ts';

export interface AttemptLimitsOptions {
  /** Sign-ins tried of one account from one client address; undefined: any number. */
  readonly account: Rate | undefined;
  /** Sign-ins tried from one client address, of whatever accounts. */
  readonly address: Rate | undefined;
  readonly counters: Counters;
  readonly clock: Clock;
}

/**
 * Counts one attempt. Out: how many seconds to wait instead, undefined when it may be made. Always of an address: who
 * guesses somebody's password keeps only themselves out, never the owner.
 */
export type AttemptLimits = (address: string, username: string) => number | undefined;

export function attemptLimits({ account, address, counters, clock }: AttemptLimitsOptions): AttemptLimits {
  const waitOf = (key: string, rate: Rate | undefined): number | undefined => {
    if (rate === undefined) return undefined;
    const { count, resetsAt } = counters.add(key, rate);
    return count > rate.requests ? resetsAt - clock() : undefined;
  };
  return (from, username) => {
    const network = networkOf(from);
    // The backend may take ALICE for alice.
    const name = foldAccountName(username);
    // Counted before the answer is known: a hundred attempts at the same time are a hundred.
    const waits = [
      waitOf(`sign-in account ${network} ${name}`, account),
      waitOf(`sign-in address ${network}`, address),
    ].filter((wait) => wait !== undefined);
    return waits.length === 0 ? undefined : Math.max(1, Math.ceil(Math.max(...waits) / 1000));
  };
}
