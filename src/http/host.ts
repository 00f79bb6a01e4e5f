import { isIP } from 'node:net';

/** The host of a URL as sockets take it: an IPv6 address without brackets. */
export function socketHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** The name that a TLS server is asked for (RFC 6066 section 3); '' for an address. */
export function serverName({ hostname }: URL): string {
  return isIP(socketHost(hostname)) === 0 ? hostname : '';
}
