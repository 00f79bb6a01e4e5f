import { canonicalAddress } from './trusted-proxies.ts';

/**
 * The network that rate limits count by: a single IPv4 address, or the /64 of an IPv6 address, because one subscriber
 * can use all addresses of a /64. Returns '' for no address.
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const canonical = canonicalAddress(address);
  return canonical.includes(':') ? prefixOf(canonical, 64) : canonical;
}

/**
 * The wider network, for limits that a single customer of a provider must not evade by changing addresses: the /24 of
 * an IPv4 address, the /48 of an IPv6 address. Returns '' for no address.
 */
export function widerNetworkOf(address: string): string {
  const network = networkOf(address);
  const [, ipv4] = /^(\d+\.\d+\.\d+)\.\d+$/.exec(network) ?? [];
  if (ipv4 !== undefined) return `${ipv4}.0/24`;
  return network.endsWith('/64') ? prefixOf(network.slice(0, -'/64'.length), 48) : network;
}

function prefixOf(address: string, bits: 48 | 64): string {
  return `${ipv6Groups(address)
    .slice(0, bits / 16)
    .join(':')}::/${bits}`;
}

/** The eight groups of an IPv6 address, in hexadecimal without leading zeros. */
export function ipv6Groups(address: string): string[] {
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return [...before, ...zeros, ...after];
}
