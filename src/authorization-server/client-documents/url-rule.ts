import { isIP } from 'node:net';
import { coversHost } from '../rules/domain.ts';

export interface UrlRule {
  /** Our own host. Documents are never fetched from it, which would be a loop. */
  readonly ownHost: string;
  /**
   * Domains that documents are accepted from; empty: all. `example.com` matches only itself, `*.example.com` only its
   * subdomains.
   */
  readonly allow: readonly string[];
  /** Domains that documents are never accepted from. Overrides `allow`. */
  readonly deny: readonly string[];
}

const LONGEST = 1024;

/** Names that never mean a host on the internet (RFC 6761, 6762, 7686, 8375, 9476 and .internal). */
const LOCAL_NAMES = ['localhost', 'local', 'internal', 'home.arpa', 'onion', 'invalid', 'alt'];

/**
 * Decides which URLs documents are fetched from, before any name is resolved. Stricter than
 * draft-ietf-oauth-client-id-metadata-document section 3. The URL must be canonical, so that a document has only one
 * client_id and every parser sees the same host and path. This alone refuses explicit default ports, upper-case hosts,
 * dot segments (plain or percent-encoded), backslashes, control characters, spaces, non-ASCII names and disguised IP
 * addresses. A query is refused, too (SHOULD NOT in the draft): with it, anyone could make us send requests of their
 * choice to other sites.
 * @returns what is wrong with the URL, for the log; undefined if nothing
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

/** Also finds dot segments below several layers of percent-encoding, which some servers decode one after another. */
function hidesDotSegment(path: string): boolean {
  let plain = path;
  for (let layer = 0; layer < 4; layer += 1)
    plain = plain.replace(/%(25|2e|2f|5c)/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return plain.split(/[/\\]/).some((segment) => segment === '.' || segment === '..');
}
