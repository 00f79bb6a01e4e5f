import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { followBack } from '../../src/http/client-address.ts';
import { canonicalAddress, trustedProxies, trustedProxyProblem } from '../../src/http/trusted-proxies.ts';

const isTrusted = trustedProxies(['10.0.0.0/8', '2001:db8:1::/48', '192.0.2.7']);
const back = (told: string | undefined, connected = '10.0.0.1') => followBack(connected, told, isTrusted);

describe('the client address of a request', () => {
  it.each([
    ['nothing', undefined, '10.0.0.1', '10.0.0.1'],
    ['an empty value', '', '10.0.0.1', '10.0.0.1'],
    ['one client', '203.0.113.9', '203.0.113.9', '203.0.113.9, 10.0.0.1'],
    ['a forged beginning', '1.1.1.1, 203.0.113.9', '203.0.113.9', '203.0.113.9, 10.0.0.1'],
    ['a forged trusted beginning', '10.9.9.9, 203.0.113.9', '203.0.113.9', '203.0.113.9, 10.0.0.1'],
    ['two proxies', '6.6.6.6,203.0.113.9 , 10.0.0.2', '203.0.113.9', '203.0.113.9, 10.0.0.2, 10.0.0.1'],
    ['only proxies', '10.0.0.3, 10.0.0.2', '10.0.0.3', '10.0.0.3, 10.0.0.2, 10.0.0.1'],
    ['a single trusted address', '203.0.113.9, 192.0.2.7', '203.0.113.9', '203.0.113.9, 192.0.2.7, 10.0.0.1'],
    ['a port', '203.0.113.9:5123', '203.0.113.9', '203.0.113.9, 10.0.0.1'],
    ['IPv6', '2001:DB8:0:0::1', '2001:db8::1', '2001:db8::1, 10.0.0.1'],
    ['IPv6 in brackets', '[2001:db8::1]', '2001:db8::1', '2001:db8::1, 10.0.0.1'],
    ['IPv6 with a port', '[2001:db8::1]:443', '2001:db8::1', '2001:db8::1, 10.0.0.1'],
    ['IPv6 with a zone', 'fe80::1%eth0', 'fe80::1', 'fe80::1, 10.0.0.1'],
    ['a proxy on IPv6', '203.0.113.9, 2001:db8:1::5', '203.0.113.9', '203.0.113.9, 2001:db8:1::5, 10.0.0.1'],
    ['IPv4 mapped into IPv6', '::ffff:203.0.113.9', '203.0.113.9', '203.0.113.9, 10.0.0.1'],
    ['a mapped proxy', '203.0.113.9, ::ffff:a00:2', '203.0.113.9', '203.0.113.9, 10.0.0.2, 10.0.0.1'],
    ['unknown', '203.0.113.9, unknown', '10.0.0.1', '10.0.0.1'],
    ['a hidden name', '203.0.113.9, _hidden', '10.0.0.1', '10.0.0.1'],
    ['garbage behind a proxy', 'x<y>, 10.0.0.2', '10.0.0.2', '10.0.0.2, 10.0.0.1'],
    ['an empty entry', '203.0.113.9,', '10.0.0.1', '10.0.0.1'],
    ['a number that is not an address', '3405803785', '10.0.0.1', '10.0.0.1'],
    ['a long entry', '1'.repeat(9_000), '10.0.0.1', '10.0.0.1'],
    ['a name', 'localhost', '10.0.0.1', '10.0.0.1'],
  ])('is found with %s in X-Forwarded-For', (_what, told, client, hops) => {
    expect(back(told)).toEqual({ client, hops });
  });

  it('is that of the connection when the sender is not a trusted proxy', () => {
    expect(back('1.2.3.4', '203.0.113.50').client).toBe('203.0.113.50');
  });

  it('is always an address, found in linear time for a thousand entries or random ones', () => {
    const many = Array.from({ length: 1_000 }, (_, at) => `10.1.${at >> 8}.${at & 255}`).join(', ');
    expect(back(`203.0.113.9, ${many}`).client).toBe('203.0.113.9');
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string(), fc.constantFrom('unknown', '', '10.0.0.2', '[', '"'))),
        (entries) => {
          const { client, hops } = back(entries.join(','));
          expect(canonicalAddress(client)).toBe(client);
          expect(hops.split(', ')[0]).toBe(client);
          expect(hops.split(', ').slice(1).every(isTrusted)).toBe(true);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe('which proxies are trusted', () => {
  it.each([
    [['loopback'], '127.8.9.1', true],
    [['loopback'], '::1', true],
    [['loopback'], '10.0.0.1', false],
    [['private'], '172.31.255.255', true],
    [['private'], '172.32.0.0', false],
    [['private'], 'fd00::1', true],
    [['private'], '127.0.0.1', false],
    [['private'], '169.254.1.1', false],
    [['203.0.113.0/24', '2001:db8::/32'], '203.0.113.255', true],
    [['203.0.113.0/24', '2001:db8::/32'], '2001:db8:ffff::1', true],
    [['203.0.113.0/24', '2001:db8::/32'], '203.0.114.0', false],
    [[], '127.0.0.1', false],
  ])('%j includes %s: %s', (entries, address, expected) => {
    expect(trustedProxies(entries)(address)).toBe(expected);
  });

  it.each(['0.0.0.0/0', '::/0', '10.0.0.0/00'])('cannot include every address: %s', (entry) => {
    expect(trustedProxyProblem(entry)).toBe('would trust everyone: name the networks of your proxies');
    expect(() => trustedProxies([entry])).toThrow(/would trust everyone/);
  });

  it.each([
    '',
    '10.0.0.0/33',
    '::1/129',
    'proxy.internal',
    '10.0.0.0/',
    '10/8',
    '*',
    'all',
    'fe80::1%eth0',
    '1.2.3.4:80',
  ])('%j is refused', (entry) => expect(trustedProxyProblem(entry)).toMatch(/^must be an IP address/));
});
