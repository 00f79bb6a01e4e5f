import { isIP } from 'node:net';
import { coversHost } from '../rules/domain.ts';

export interface UrlRule {
  /** Our own host: asking ourselves would be a loop. */
  readonly ownHost: string;
  /** Domains whose documents are taken; empty: all. `example.com` is that host, `*.example.com` what is under it. */
  readonly allow: readonly string[];
  /** Domains whose documents are not taken, whatever `allow` says. */
  readonly deny: readonly string[];
}

const LONGEST = 1024;

/** Names that never mean a host on the internet (RFC 6761, 6762, 7686, 8375, 9476 and .internal). */
const LOCAL_NAMES = ['localhost', 'local', 'internal', 'home.arpa', 'onion', 'invalid', 'alt'];

/**
 * draft-ietf-oauth-client-id-metadata-document §3, and tighter: which URLs are asked for a document at all. Judged
 * before any name is resolved. The URL must be canonical, so that one document has one client_id and every reader sees
 * the same host and path; that alone refuses default ports spelled out, upper-case hosts, dot segments in plain or
 * percent form, backslashes, control characters, spaces, names outside ASCII and disguised IP addresses. A query is
 * refused (the draft: SHOULD NOT): it would let anyone have us send requests of their making to other sites.
 * Out: what is wrong with it, for the log; undefined when nothing is.
 */
export function urlProblem(clientId: string, rule: UrlRule): string | undefined {
  if (clientId.length > LONGEST) return 'is too long';
  const url = URL.parse(clientId);
  if (url === null || url.href !== clientId) return 'is not a URL in canonical form';
  if (url.protocol !== 'https:') return 'is not https';
  if (url.username !== '' || url.password !== '') return 'holds user information';
  if (url.port !== '') return 'names a port other than 443';
  if (clientId.includes('#')) return 'has a fragment';
  if (clientId.includes('?')) return 'has a query';
  if (!/^\/[^/]/.test(url.pathname)) return 'has no path';
  if (hidesDotSegment(url.pathname)) return 'has a dot segment in its path';
  return hostProblem(url.hostname, rule);
}

function hostProblem(host: string, { ownHost, allow, deny }: UrlRule): string | undefined {
  if (host.startsWith('[') || isIP(host) !== 0) return 'names an IP address';
  if (host.endsWith('.') || !host.includes('.')) return 'does not name a host in full';
  if (LOCAL_NAMES.some((name) => host.endsWith(`.${name}`))) return 'names a host that is not on the internet';
  if (host === ownHost) return 'names this server itself';
  if (deny.some((domain) => coversHost(domain, host))) return 'is under a domain that is denied';
  if (allow.length > 0 && !allow.some((domain) => coversHost(domain, host)))
    return 'is under no domain that is allowed';
  return undefined;
}

/** Also below several layers of percent-encoding, which some servers peel off one by one. */
function hidesDotSegment(path: string): boolean {
  let plain = path;
  for (let layer = 0; layer < 4; layer += 1) {
    plain = plain.replace(/%(25|2e|2f|5c)/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
  return plain.split(/[/\\]/).some((segment) => segment === '.' || segment === '..');
}
