import { describe, expect, it } from 'vitest';
import { registrationLimits } from '../../../src/authorization-server/registration/limits.ts';
import { GatewayError } from '../../../src/errors.ts';
import { networkOf } from '../../../src/http/client-network.ts';
import { memoryCounters } from '../../../src/storage/memory-counters.ts';

const MINUTE = 60_000;

function counter(options: { perAddressPerMinute: number; perDay: number }) {
  const time = { now: 0 };
  const clock = () => time.now;
  const limits = registrationLimits({
    ...options,
    counters: memoryCounters(clock),
    clock,
    limited: () => undefined,
    audit: () => {},
  });
  /** Out: undefined when it is taken, else the seconds to wait. */
  const ask = (address: string): number | undefined => {
    try {
      limits(address);
      return undefined;
    } catch (thrown) {
      if (!(thrown instanceof GatewayError) || thrown.code !== 'too_many_requests') throw thrown;
      return Number(thrown.headers['retry-after']);
    }
  };
  const taken = (address: string, times: number) =>
    Array.from({ length: times }, () => ask(address)).filter((wait) => wait === undefined).length;
  return { time, ask, taken };
}

describe('limits on registration', () => {
  it('take so many of one address, tell how long to wait, and leave others alone', () => {
    const { time, ask, taken } = counter({ perAddressPerMinute: 20, perDay: 1000 });
    expect(taken('203.0.113.1', 1000)).toBe(20);
    expect(ask('203.0.113.1')).toBe(60);
    expect(ask('203.0.113.2')).toBeUndefined();
    time.now += MINUTE - 1;
    expect(ask('203.0.113.1')).toBe(1);
    time.now += 1;
    expect(taken('203.0.113.1', 1000)).toBe(20);
  });

  it('take so many within a day from everywhere', () => {
    const { time, ask } = counter({ perAddressPerMinute: 20, perDay: 50 });
    const asked = Array.from({ length: 200 }, (_, index) => ask(`203.0.113.${index}`));
    expect(asked.filter((wait) => wait === undefined).length).toBe(50);
    expect(asked.at(-1)).toBe(86_400);
    time.now += 1440 * MINUTE;
    expect(ask('203.0.113.250')).toBeUndefined();
  });

  it('count what was taken only', () => {
    const { time, taken, ask } = counter({ perAddressPerMinute: 2, perDay: 3 });
    expect(taken('203.0.113.1', 100)).toBe(2);
    expect(taken('203.0.113.2', 100)).toBe(1);
    time.now -= MINUTE;
    expect(ask('203.0.113.1')).toBeGreaterThan(0);
  });

  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:ffff::1', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', ''],
  ])('count %s as %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});
