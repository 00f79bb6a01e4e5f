import { isLoopbackHost } from '../../http/host.ts';
/** Whether a redirect URI leads to the member's own computer (RFC 8252 section 7.3). */
export function isLoopback(redirectUri: string): boolean {
  const url = URL.parse(redirectUri);
  return url?.protocol === 'http:' && isLoopbackHost(url);
}
