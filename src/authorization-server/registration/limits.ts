import { isIPv6 } from 'node:net';
import { LRUCache } from 'lru-cache';
import { GatewayError } from '../../errors.ts';
import type { Clock } from '../../storage/store.ts';

export interface RegistrationLimitsOptions {
  /** Registrations of one address within a minute. */
  readonly perAddressPerMinute: number;
  /** Registrations of all addresses within a day. */
  readonly perDay: number;
  readonly clock: Clock;
}

/** Counts one registration of an address. Throws GatewayError `too_many_requests` when there were too many. */
export type RegistrationLimits = (address: string) => void;

const ADDRESSES_IN_MEMORY = 20_000;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/**
 * What keeps open registration from filling the store. Counted in this process: with several replicas each has limits of
 * its own, until they are counted in the store. The address is the client's, as trusted proxies tell it.
 */
export function registrationLimits(options: RegistrationLimitsOptions): RegistrationLimits {
  const { perAddressPerMinute, perDay, clock } = options;
  const everyone = new TokenBucket(perDay, DAY, clock);
  const addresses = new LRUCache<string, TokenBucket>({ max: ADDRESSES_IN_MEMORY });

  return (address) => {
    const key = networkOf(address);
    const bucket = addresses.get(key) ?? new TokenBucket(perAddressPerMinute, MINUTE, clock);
    addresses.set(key, bucket);
    const wait = Math.max(bucket.wait(), everyone.wait());
    if (wait > 0) {
      throw new GatewayError('too_many_requests', {
        message: 'too many apps were registered: try again later',
        headers: { 'retry-after': String(Math.ceil(wait / 1000)) },
      });
    }
    bucket.take();
    everyone.take();
  };
}

/** Holds `capacity` tokens and fills up within `period` milliseconds. */
class TokenBucket {
  readonly #capacity: number;
  readonly #perMillisecond: number;
  readonly #clock: Clock;
  #tokens: number;
  #filledAt: number;

  constructor(capacity: number, period: number, clock: Clock) {
    this.#capacity = capacity;
    this.#perMillisecond = capacity / period;
    this.#clock = clock;
    this.#tokens = capacity;
    this.#filledAt = clock();
  }

  /** Out: milliseconds until there is a token; 0 when there is one. */
  wait(): number {
    const now = this.#clock();
    const filled = this.#tokens + Math.max(0, now - this.#filledAt) * this.#perMillisecond;
    this.#tokens = Math.min(this.#capacity, filled);
    this.#filledAt = now;
    return this.#tokens >= 1 ? 0 : (1 - this.#tokens) / this.#perMillisecond;
  }

  take(): void {
    this.#tokens -= 1;
  }
}

/** One IPv4 address, or the /64 that one subscriber of IPv6 has to choose addresses from. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [plain = ''] = address.split('%');
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`;
}
