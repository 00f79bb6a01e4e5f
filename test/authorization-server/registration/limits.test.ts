import { describe, expect, it } from 'vitest';
import { registrationLimits } from '../../../src/authorization-server/registration/limits.ts';
import { GatewayError } from '../../../src/errors.ts';
import { networkOf, widerNetworkOf } from '../../../src/http/client-network.ts';
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
  /** Undefined when the registration is admitted, otherwise the seconds to wait. */
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
  it('limit one address, state how long to wait, and do not affect others', () => {
    const { time, ask, taken } = counter({ perAddressPerMinute: 20, perDay: 1000 });
    expect(taken('203.0.113.1', 1000)).toBe(20);
    expect(ask('203.0.113.1')).toBe(60);
    expect(ask('203.0.113.2')).toBeUndefined();
    time.now += MINUTE - 1;
    expect(ask('203.0.113.1')).toBe(1);
    time.now += 1;
    expect(taken('203.0.113.1', 1000)).toBe(20);
  });

  it('limit all addresses together per day', () => {
    const { time, ask } = counter({ perAddressPerMinute: 20, perDay: 50 });
    const asked = Array.from({ length: 200 }, (_, index) => ask(`198.51.${index}.1`));
    expect(asked.filter((wait) => wait === undefined).length).toBe(50);
    expect(asked.at(-1)).toBe(86_400);
    time.now += 1440 * MINUTE;
    expect(ask('203.0.113.250')).toBeUndefined();
  });

  it('count only admitted registrations', () => {
    const { time, taken, ask } = counter({ perAddressPerMinute: 2, perDay: 3 });
    for (const address of ['192.0.2.1', '198.51.100.1', '203.0.113.1']) expect(taken(address, 100)).toBe(1);
    expect(taken('2001:db8::1', 100)).toBe(0);
    time.now -= MINUTE;
    expect(ask('203.0.113.1')).toBeGreaterThan(0);
  });

  /** Registers from these addresses in turn for a whole day, as often as is admitted. */
  const flood = (addresses: readonly string[], { time, ask }: Pick<ReturnType<typeof counter>, 'time' | 'ask'>) => {
    const counts = new Map<string, number>();
    for (let minute = 0; minute < 1440; minute += 1) {
      for (const address of addresses) {
        while (ask(address) === undefined) counts.set(address, (counts.get(address) ?? 0) + 1);
      }
      time.now += MINUTE;
    }
    return [...counts.values()].reduce((sum, count) => sum + count, 0);
  };

  it('leave room for others when one address registers without a pause', () => {
    const gate = counter({ perAddressPerMinute: 120, perDay: 100_000 });
    expect(flood(['203.0.113.1'], gate)).toBe(4_762);
    for (let other = 0; other < 300; other += 1) {
      expect(gate.ask(`198.18.${other % 256}.${other >> 8}`), `client ${other}`).toBeUndefined();
    }
  });

  it.each([
    ['every address of an IPv4 /24', (at: number) => `203.0.113.${at}`],
    ['256 networks of an IPv6 /48', (at: number) => `2001:db8:7:${at.toString(16)}::1`],
  ])('leave room for others when %s registers without a pause', (_name, address) => {
    const gate = counter({ perAddressPerMinute: 120, perDay: 100_000 });
    expect(
      flood(
        Array.from({ length: 256 }, (_, at) => address(at)),
        gate,
      ),
    ).toBe(16_667);
    expect(gate.ask('198.18.0.1')).toBeUndefined();
    expect(gate.ask('2001:db8:8::1')).toBeUndefined();
  });

  it('leave room for a newcomer after a flood from 200 networks', () => {
    const gate = counter({ perAddressPerMinute: 120, perDay: 100_000 });
    flood(
      Array.from({ length: 200 }, (_, at) => `198.18.${at}.1`),
      gate,
    );
    expect(gate.taken('203.0.113.1', 10)).toBe(10);
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
  ])('count %s for the network %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  it.each([
    ['192.0.2.7', '192.0.2.0/24'],
    ['::ffff:192.0.2.7', '192.0.2.0/24'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
    ['2001:db8::1', '2001:db8:0::/48'],
    ['::1', '0:0:0::/48'],
    ['', ''],
  ])('count %s for the wider network %s', (address, network) => {
    expect(widerNetworkOf(address)).toBe(network);
  });
});
