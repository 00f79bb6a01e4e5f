import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { checkServerIdentity, TLSSocket } from 'node:tls';

/**
 * Names that public DNS never gives an address: loopback (RFC 6761), services of a Kubernetes cluster, and networks
 * that use the domain reserved for private use.
 */
const PRIVATE_NAME = /\.(localhost|svc|svc\.cluster\.local|internal)$/;

/**
 * Against DNS rebinding: a page of evil.example whose name is suddenly 127.0.0.1 is of the same origin as the admin
 * listener, as far as its browser can tell, and reads what it answers. Only Host still has the page's name. Allowed are
 * addresses, since a rebound name is none, and names that a stranger cannot point here: those without a dot, those of
 * `PRIVATE_NAME`, those that the operator has named, and over TLS those of the certificate, which the browser checks.
 * A request without Host (HTTP/1.0, as some balancers probe) comes from no browser.
 *
 * @param named the hosts that the listeners are bound to, and the name of this machine
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

/** In: a Host field. Out: the name or the address in it, in small letters; undefined when it is malformed. */
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
 * Whether a page of another site sent a request. Every browser says so by Origin where the page may not read the
 * answer, and most by Sec-Fetch-Site. A link to GraphiQL may be anywhere.
 */
export function isFromPage({ headers, method }: IncomingMessage): boolean {
  if (headers.origin !== undefined) return true;
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return false;
  const isLink = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return !(isLink && method === 'GET');
}
