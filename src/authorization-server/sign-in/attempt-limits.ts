import { networkOf } from '../../http/client-network.ts';
import type { Counters, Rate } from '../../storage/counters.ts';
import type { Clock } from '../../storage/store.ts';

export interface AttemptLimitsOptions {
  /** Sign-ins tried of one account from one client address. */
  readonly account: Rate;
  /** Sign-ins tried from one client address, of whatever accounts. */
  readonly address: Rate;
  readonly counters: Counters;
  readonly clock: Clock;
}

/**
 * Counts one attempt. Out: how many seconds to wait instead, undefined when it may be made. Always of an address: who
 * guesses somebody's password keeps only themselves out, never the owner.
 */
export type AttemptLimits = (address: string, username: string) => number | undefined;

export function attemptLimits({ account, address, counters, clock }: AttemptLimitsOptions): AttemptLimits {
  return (from, username) => {
    const network = networkOf(from);
    // The backend may take ALICE for alice: an account is not guessed at more often by spelling it differently.
    const name = username.normalize('NFKC').trim().toLowerCase();
    // Counted before the answer is known: a hundred attempts at the same time are a hundred.
    const tallies = [
      { tally: counters.add(`sign-in account ${network} ${name}`, account), most: account.requests },
      { tally: counters.add(`sign-in address ${network}`, address), most: address.requests },
    ];
    const waits = tallies.flatMap(({ tally, most }) => (tally.count > most ? [tally.resetsAt - clock()] : []));
    return waits.length === 0 ? undefined : Math.max(1, Math.ceil(Math.max(...waits) / 1000));
  };
}
