import { BlockList, isIP, isIPv4, SocketAddress } from 'node:net';

/** Named networks, so that operators need not write them out. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/** Whether a canonical address (see `canonicalAddress`) belongs to a proxy that is trusted to name the client. */
export type IsTrusted = (address: string) => boolean;

/**
 * Creates the test from addresses, CIDR networks, and the names `loopback` and `private` (RFC 1918, RFC 4193). Throws
 * Error for any other entry; see `trustedProxyProblem`.
 */
export function trustedProxies(entries: readonly string[]): IsTrusted {
  if (entries.length === 0) return () => false;
  const networks = entries.flatMap((one) => NAMED[one] ?? [one]);
  for (const network of networks) {
    const problem = trustedProxyProblem(network);
    if (problem !== undefined) throw new Error(`${network} ${problem}`);
  }
  const list = blockList(networks);
  return (address) => list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}

/** A list of addresses and CIDR networks. */
export function blockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

/**
 * Returns what is wrong with an entry, as the end of a sentence; undefined if it is valid. Trusting every address is
 * refused.
 */
export function trustedProxyProblem(entry: string): string | undefined {
  if (Object.hasOwn(NAMED, entry)) return undefined;
  const [, address = '', prefix] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
  const family = isIP(address);
  if (family === 0 || Number(prefix ?? 0) > (family === 4 ? 32 : 128))
    return 'must be an IP address, a network such as 10.0.0.0/8, loopback or private';
  if (prefix !== undefined && Number(prefix) === 0) return 'would trust everyone: name the networks of your proxies';
  return undefined;
}

/**
 * The canonical form of an address: IPv6 as in RFC 5952 without zone, and mapped IPv4 as plain IPv4. '' if it is not an
 * address.
 */
export function canonicalAddress(text: string): string {
  if (isIPv4(text)) return text;
  const zone = text.indexOf('%');
  const plain = zone === -1 ? text : text.slice(0, zone);
  if (isIP(plain) !== 6) return '';
  const { address } = new SocketAddress({ address: plain, family: 'ipv6' });
  return address.startsWith('::ffff:') && isIPv4(address.slice(7)) ? address.slice(7) : address;
}
