import { describe, expect, it } from 'vitest';
import { isPublicAddress } from '../../../src/http/public-address.ts';

/** For each special-use block: its first and last address, and the addresses just outside if they are public. */
const BLOCKS: readonly { block: string; inside: readonly string[]; outside?: readonly string[] }[] = [
  { block: '0.0.0.0/8', inside: ['0.0.0.0', '0.255.255.255'], outside: ['1.0.0.0'] },
  { block: '10.0.0.0/8', inside: ['10.0.0.0', '10.255.255.255'], outside: ['9.255.255.255', '11.0.0.0'] },
  { block: '100.64.0.0/10', inside: ['100.64.0.0', '100.127.255.255'], outside: ['100.63.255.255', '100.128.0.0'] },
  {
    block: '127.0.0.0/8',
    inside: ['127.0.0.0', '127.0.0.1', '127.255.255.255'],
    outside: ['126.255.255.255', '128.0.0.0'],
  },
  {
    block: '169.254.0.0/16',
    inside: ['169.254.0.0', '169.254.169.254', '169.254.255.255'],
    outside: ['169.253.255.255', '169.255.0.0'],
  },
  { block: '172.16.0.0/12', inside: ['172.16.0.0', '172.31.255.255'], outside: ['172.15.255.255', '172.32.0.0'] },
  { block: '192.0.0.0/24', inside: ['192.0.0.0', '192.0.0.255'], outside: ['191.255.255.255', '192.0.1.0'] },
  { block: '192.0.2.0/24', inside: ['192.0.2.0', '192.0.2.255'], outside: ['192.0.3.0'] },
  { block: '192.88.99.0/24', inside: ['192.88.99.0', '192.88.99.255'], outside: ['192.88.98.255', '192.88.100.0'] },
  { block: '192.168.0.0/16', inside: ['192.168.0.0', '192.168.255.255'], outside: ['192.167.255.255', '192.169.0.0'] },
  { block: '198.18.0.0/15', inside: ['198.18.0.0', '198.19.255.255'], outside: ['198.17.255.255', '198.20.0.0'] },
  { block: '198.51.100.0/24', inside: ['198.51.100.0', '198.51.100.255'], outside: ['198.51.99.255', '198.51.101.0'] },
  { block: '203.0.113.0/24', inside: ['203.0.113.0', '203.0.113.255'], outside: ['203.0.112.255', '203.0.114.0'] },
  { block: '224.0.0.0/4', inside: ['224.0.0.0', '239.255.255.255'], outside: ['223.255.255.255'] },
  { block: '240.0.0.0/4', inside: ['240.0.0.0', '255.255.255.254', '255.255.255.255'] },
  { block: '::/128 and ::1/128', inside: ['::', '::1', '0:0:0:0:0:0:0:1'] },
  {
    block: '::ffff:0:0/96',
    inside: ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::ffff:8.8.8.8', '0:0:0:0:0:ffff:a00:1'],
  },
  { block: '::/96, once compatible with IPv4', inside: ['::127.0.0.1', '::8.8.8.8'] },
  { block: '64:ff9b::/96', inside: ['64:ff9b::', '64:ff9b::7f00:1', '64:ff9b::808:808'] },
  { block: '64:ff9b:1::/48', inside: ['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'] },
  { block: '100::/64', inside: ['100::', '100::ffff:ffff:ffff:ffff'] },
  {
    block: '2001::/23',
    inside: ['2001::', '2001:0:4136:e378:8000:63bf:3fff:fdd2', '2001:1ff:ffff::'],
    outside: ['2001:200::1'],
  },
  { block: '2001:db8::/32', inside: ['2001:db8::', '2001:db8:ffff::1'], outside: ['2001:db7::1', '2001:db9::1'] },
  { block: '2002::/16', inside: ['2002::', '2002:7f00:1::', '2002:ffff::'], outside: ['2003::1'] },
  { block: '3fff::/20', inside: ['3fff::', '3fff:fff::1'], outside: ['3fff:1000::1'] },
  { block: 'fc00::/7', inside: ['fc00::', 'fd12:3456::1', 'fdff:ffff::'] },
  { block: 'fe80::/10', inside: ['fe80::', 'fe80::1', 'febf::1', 'FE80::1'] },
  { block: 'fec0::/10', inside: ['fec0::1'] },
  { block: 'ff00::/8', inside: ['ff00::', 'ff02::1', 'ffff::'] },
];

describe('isPublicAddress', () => {
  it.each(BLOCKS)('treats $block as special-use and its neighbours as public', ({ inside, outside = [] }) => {
    expect(inside.filter(isPublicAddress)).toEqual([]);
    expect(outside.filter((address) => !isPublicAddress(address))).toEqual([]);
  });

  it.each(['8.8.8.8', '1.1.1.1', '160.79.104.10', '2606:4700::1111', '2a00:1450:4001::200e'])(
    'treats %s as public',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );

  it.each([
    '',
    'localhost',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '127.1',
    '8.8.8.8:443',
    '[::1]',
    '2606:4700::1%eth0',
    'fe80::1%1',
  ])('refuses %j, which is not a plain IP address', (text) => {
    expect(isPublicAddress(text)).toBe(false);
  });
});
