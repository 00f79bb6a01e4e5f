import { GatewayError } from '../../errors.ts';
import { networkOf, widerNetworkOf } from '../../http/client-network.ts';
import type { Audit } from '../../operations/audit.ts';
import { createLogThrottle } from '../../operations/log-throttle.ts';
import type { Counters } from '../../storage/counters.ts';
import type { Clock } from '../../storage/store.ts';

export interface RegistrationLimitsOptions {
  /** Registrations per address and minute. */
  readonly perAddressPerMinute: number;
  /** Registrations per day, for all addresses. */
  readonly perDay: number;
  readonly counters: Counters;
  readonly clock: Clock;
  readonly audit: Audit;
  /** Called for each registration that is refused. */
  readonly limited: () => void;
}

/**
 * Counts a registration. Throws GatewayError `too_many_requests` if the address, its networks or everyone together has
 * reached the limit.
 */
export type RegistrationLimits = (address: string) => void;

const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;

/**
 * The fraction of the day's remaining registrations that one network, and the /24 or /48 around it, may use. A fraction
 * of what remains is never all of it, so a flood cannot use up the day for others, however many networks it comes from:
 * of 100,000, one address gets 4,761, and ten busy /24 networks leave 16,000.
 */
const SHARE_OF_NETWORK = 20;
const SHARE_OF_WIDER_NETWORK = 5;

/** Keeps open registration from filling the store. Only accepted registrations count. */
export function registrationLimits(options: RegistrationLimitsOptions): RegistrationLimits {
  const { counters, clock, audit, perDay } = options;
  // Clients that exceed the limit usually retry, so this is audited at most once a minute.
  const throttled = createLogThrottle({ clock, lines: 1, apart: 0 });
  const perMinute = { requests: options.perAddressPerMinute, per: MINUTE };
  const everyone = { requests: perDay, per: DAY };

  const shareOf = (fraction: number) => {
    const left = perDay - counters.peek('registration', everyone).count;
    return { requests: Math.ceil(left / fraction), per: DAY };
  };

  return (address) => {
    const network = networkOf(address);
    const limits = [
      { key: `registration:${network}`, rate: perMinute },
      { key: `registration of a day:${network}`, rate: shareOf(SHARE_OF_NETWORK) },
      { key: `registration of a day:${widerNetworkOf(address)}`, rate: shareOf(SHARE_OF_WIDER_NETWORK) },
      { key: 'registration', rate: everyone },
    ];
    const waits = limits.map(({ key, rate }) => {
      const { count, resetsAt } = counters.peek(key, rate);
      return count < rate.requests ? 0 : resetsAt - clock();
    });
    const wait = Math.max(...waits);
    if (wait > 0) {
      options.limited();
      const anonymous = { clientId: undefined, grantId: undefined, member: undefined };
      throttled('registration', () =>
        audit({ action: 'limit_tripped', limit: 'registration', address: network, ...anonymous }),
      );
      throw new GatewayError('too_many_requests', {
        message: 'too many apps were registered: try again later',
        headers: { 'retry-after': String(Math.ceil(wait / 1000)) },
      });
    }
    for (const { key, rate } of limits) counters.add(key, rate);
  };
}
