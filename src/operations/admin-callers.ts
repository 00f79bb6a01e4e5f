import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { checkServerIdentity, TLSSocket } from 'node:tls';

/**
 * Names that never resolve to an address in public DNS: loopback (RFC 6761), Kubernetes services, and the domain
 * reserved for private networks.
 */
const PRIVATE_NAME = /\.(localhost|svc|svc\.cluster\.local|internal)$/;

/**
 * Checks the Host field, as a defence against DNS rebinding: if evil.example suddenly resolves to 127.0.0.1, the
 * browser considers a page of evil.example same-origin with the admin listener, and the page can read its answers.
 * Only Host still carries the page's name.
 *
 * Allowed are IP addresses (a rebound name is not one) and names that an attacker cannot point at this machine: names
 * without a dot, those matching `PRIVATE_NAME`, those the operator configured and, over TLS, those of the certificate,
 * which the browser verifies. A request without Host (HTTP/1.0, as some load balancers probe) does not come from a
 * browser.
 *
 * @param named the hosts that the listeners are bound to, and this machine's name
 */
export function hostCheck(named: readonly string[]): (request: IncomingMessage) => boolean {
  const known = new Set(named.map((name) => name.toLowerCase()));
  return ({ headers: { host = '' }, socket }) => {
    if (host === '') return true;
    const name = hostName(host);
    if (name === undefined) return false;
    if (isIP(name) !== 0 || !name.includes('.') || PRIVATE_NAME.test(name) || known.has(name)) return true;
    return socket instanceof TLSSocket && isCertified(name, socket);
  };
}

/** The lower-case name or address in a Host field; undefined if the field is malformed. */
function hostName(host: string): string | undefined {
  const [, address, name] = /^(?:\[([0-9a-f:.]+)\]|([\w.-]+))(?::\d{1,5})?$/i.exec(host) ?? [];
  if (address !== undefined) return isIP(address) === 6 ? address : undefined;
  return name?.toLowerCase().replace(/\.$/, '');
}

function isCertified(name: string, socket: TLSSocket): boolean {
  const certificate = socket.getCertificate();
  return certificate !== null && 'subject' in certificate && checkServerIdentity(name, certificate) === undefined;
}

/**
 * Whether another site's page sent the request. Every browser sends Origin when the page may not read the response,
 * and most send Sec-Fetch-Site. Following a link from any page is allowed.
 */
export function isFromPage({ headers, method }: IncomingMessage): boolean {
  if (headers.origin !== undefined) return true;
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return false;
  const isLink = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return !(isLink && method === 'GET');
}
