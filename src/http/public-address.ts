import { isIPv4, isIPv6 } from 'node:net';
import { blockList } from './trusted-proxies.ts';

/**
 * The special-use blocks of RFC 6890 and the IANA registries: addresses that are not globally reachable, or mean
 * something else here than on the internet. Two lists, because one that contains ::ffff:0:0/96 would match every IPv4
 * address.
 */
const SPECIAL_IPV4 = blockList([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]);

/**
 * Special blocks inside 2000::/3. Everything outside is special: loopback, mapped, NAT64 (64:ff9b::/96), local,
 * multicast.
 */
const SPECIAL_IPV6 = blockList(['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20']);
const GLOBAL_IPV6 = blockList(['2000::/3']);

/**
 * Whether an address is reachable from the whole internet. False for text that is not an address, and for addresses
 * with a zone.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !SPECIAL_IPV4.check(address, 'ipv4');
  if (!isIPv6(address) || address.includes('%')) return false;
  return GLOBAL_IPV6.check(address, 'ipv6') && !SPECIAL_IPV6.check(address, 'ipv6');
}
