import { networkOf } from '../../http/client-network.ts';
import type { CredentialCheck } from '../../login/connector.ts';
import { foldAccountName } from '../../oauth/account-name.ts';
import type { Rate } from '../../storage/counters.ts';
import type { PlaceLimit, Places } from '../../storage/places.ts';

export interface AttemptLimitsOptions {
  /** Sign-ins tried of one account from one client address; undefined: any number. */
  readonly account: Rate | undefined;
  /** Sign-ins tried from one client address, of whatever accounts; undefined: any number. */
  readonly address: Rate | undefined;
  readonly places: Places;
}

/**
 * The same check, so many times: more are told to slow down, and never reach it. Always of an address: who guesses
 * somebody's password keeps only themselves out, never the owner. An attempt counts when it has an answer, right or wrong:
 * an ill backend keeps nobody out once it is well. Until then it takes a place, so that a hundred at once are a hundred.
 */
export function limitAttempts(check: CredentialCheck, options: AttemptLimitsOptions): CredentialCheck {
  const { account, address, places } = options;

  const limitsOf = (from: string, username: string): readonly PlaceLimit[] => {
    const network = networkOf(from);
    // The backend may take ALICE for alice.
    const name = foldAccountName(username);
    return [
      { key: `sign-in account ${network} ${name}`, rate: account },
      { key: `sign-in address ${network}`, rate: address },
    ].filter((limit): limit is PlaceLimit => limit.rate !== undefined);
  };

  return async (given) => {
    const taken = await places.take(limitsOf(given.address, given.username));
    if (taken.kind === 'full') return { kind: 'slow_down', retryAfter: Math.max(1, Math.ceil(taken.wait / 1000)) };
    let answered = false;
    try {
      const verdict = await check(given);
      answered = true;
      return verdict;
    } finally {
      taken.giveBack(answered);
    }
  };
}
