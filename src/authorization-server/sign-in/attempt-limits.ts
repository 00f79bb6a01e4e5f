import { networkOf } from '../../http/client-network.ts';
import type { CredentialCheck } from '../../login/connector.ts';
import { foldAccountName } from '../../oauth/account-name.ts';
import type { Rate } from '../../storage/counters.ts';
import type { PlaceLimit, Places } from '../../storage/places.ts';

/** Each undefined for no limit: per account and client address, and per client address for all accounts. */
type Attempts = Readonly<Record<'account' | 'address', Rate | undefined>>;

/**
 * Limits a credential check. Attempts beyond the limit get `slow_down` and never reach the check. Limits are
 * always per address, so that guessing locks out the attacker but not the owner of the account. Attempts count once
 * they have an answer, right or wrong, so that a failing backend locks no one out; until then each one occupies a
 * place, so that concurrent attempts are limited too.
 */
export function limitAttempts(check: CredentialCheck, { account, address }: Attempts, places: Places): CredentialCheck {
  const limitsOf = (from: string, username: string): readonly PlaceLimit[] => {
    const network = networkOf(from);
    // The backend may treat ALICE and alice as the same account.
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
