import { isIP } from 'node:net';

/** The host of a URL as sockets take it: an IPv6 address without brackets. */
export function socketHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** The name that a TLS server is asked for (RFC 6066 section 3); '' for an address. */
export function serverName({ hostname }: URL): string {
  return isIP(socketHost(hostname)) === 0 ? hostname : '';
}

/** Whether a URL's host is one of the three that are always this machine (RFC 8252 section 7.3). */
export function isLoopbackHost({ hostname }: URL): boolean {
  return /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);
}
