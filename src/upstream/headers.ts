import { GatewayError } from '../errors.ts';
import type { Provenance } from '../http/provenance.ts';
import { cookieName, withoutCookies } from './cookies.ts';
import { requestField, responseField } from './header-names.ts';
import { publicLocation } from './location.ts';

/**
 * The header policy, for both lanes and for upgrades. Fields are flat arrays of name and value, as `rawHeaders` gives
 * and takes them: nothing is merged, and a repeated field cannot hide behind an object key.
 *
 * On the `protected` lane the principal is the only identity: no Authorization, no Cookie, no Set-Cookie, no challenge
 * and no CORS policy of the upstream. On the `site` lane the legacy site keeps its own cookies and its own HTTP authentication.
 */
type Lane = 'protected' | 'site';

export interface RequestPolicy {
  readonly lane: Lane;
  /** Our public origin, as an upstream is told it. */
  readonly origin: ForwardedOrigin;
  /** Cookies of the gate itself: never shown to an upstream. */
  readonly ownCookie: (name: string) => boolean;
}

/** The parts of our origin that forwarding fields name, taken apart once. */
interface ForwardedOrigin {
  readonly host: string;
  readonly scheme: string;
  readonly port: string;
  /** What follows `for=` in Forwarded (RFC 7239); a host with a port is quoted. */
  readonly forwarded: string;
}

export function forwardedOrigin(origin: string): ForwardedOrigin {
  const { host, protocol, port } = new URL(origin);
  const scheme = protocol.slice(0, -1);
  const quoted = /[^\w.-]/.test(host) ? `"${host}"` : host;
  return {
    host,
    scheme,
    port: port || (scheme === 'https' ? '443' : '80'),
    forwarded: `;host=${quoted};proto=${scheme}`,
  };
}

export interface ResponsePolicy {
  readonly lane: Lane;
  readonly origin: string;
  readonly upstream: URL;
  readonly ownCookie: (name: string) => boolean;
  /** Whether the answer is for an identified member: it must then stay out of every shared cache. */
  readonly member: boolean;
}

const ILLEGAL_VALUE = /[^\t\x20-\x7E\x80-\xFF]/;
const NONE: ReadonlySet<string> = new Set();

/**
 * The fields an upstream is sent, without Host, framing and identity, which the sender adds after. In: the fields as
 * received and where they came from. What Connection names is removed first (RFC 9110 §7.6.1), so that a client cannot
 * use it on what we add.
 */
export function requestHeaders(raw: readonly string[], provenance: Provenance, policy: RequestPolicy): string[] {
  const listed = connectionOptions(raw);
  const authorizations: string[] = [];
  const fields: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] as string;
    const value = raw[at + 1] as string;
    const kind = requestField(name);
    if (kind === 'drop' || kind === 'connection' || (listed.size > 0 && listed.has(name.toLowerCase()))) continue;
    if (kind === 'pass') fields.push(name, value);
    else if (kind === 'trace') {
      if (provenance.trusted) fields.push(name, value);
    } else if (policy.lane === 'protected') continue;
    else if (kind === 'authorization') authorizations.push(name, value);
    else {
      const kept = withoutCookies(value, policy.ownCookie);
      if (kept !== '') fields.push(name, kept);
    }
  }
  // A bearer token is meant for us. Two credentials are nobody's: servers differ on which one counts.
  if (authorizations.length === 2 && !/^\s*(bearer|dpop)([\s,]|$)/i.test(authorizations[1] ?? ''))
    fields.push(...authorizations);
  return forwarded(fields, provenance, policy.origin);
}

/**
 * Adds where a request came from and where to, in every spelling backends read: the client and the proxies that are
 * vouched for, our own origin whatever Host said, the request id and the trace. Always set, never left to what was sent.
 */
function forwarded(fields: string[], provenance: Provenance, origin: ForwardedOrigin): string[] {
  const { clientAddress, hops, requestId, tracestate } = provenance;
  if (clientAddress !== '') {
    const node = clientAddress.includes(':') ? `"[${clientAddress}]"` : clientAddress;
    fields.push('X-Forwarded-For', hops, 'X-Real-IP', clientAddress, 'Forwarded', `for=${node}${origin.forwarded}`);
  }
  fields.push('X-Forwarded-Host', origin.host, 'X-Forwarded-Proto', origin.scheme, 'X-Forwarded-Port', origin.port);
  fields.push('X-Request-Id', requestId, 'traceparent', provenance.traceparent());
  if (tracestate !== undefined) fields.push('tracestate', tracestate);
  return fields;
}

/**
 * The fields a client is sent. In: the final status and the fields as the upstream gave them. Hop-by-hop fields, the
 * upstream's traces and identity names are removed and internal locations made ours.
 * Throws GatewayError `upstream_invalid` for a status or a value that cannot be passed on.
 */
export function responseHeaders(status: number, raw: readonly string[], policy: ResponsePolicy): string[] {
  if (!(status >= 200 && status <= 599)) throw invalid(`status ${status}`);
  const listed = connectionOptions(raw);
  const fields: string[] = [];
  let cacheControl = '';
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] as string;
    const value = raw[at + 1] as string;
    const kind = responseField(name);
    if (
      kind === 'drop' ||
      kind === 'connection' ||
      (listed.size > 0 && kind !== 'length' && listed.has(name.toLowerCase()))
    )
      continue;
    if (ILLEGAL_VALUE.test(value)) throw invalid(`a control character in ${name}`);
    if (kind === 'location') fields.push(name, publicLocation(value, policy.upstream, policy.origin));
    else if (kind === 'set-cookie') {
      if (policy.lane === 'site' && !policy.ownCookie(cookieName(value))) fields.push(name, value);
    } else if (kind === 'challenge' || kind === 'cors') {
      if (policy.lane === 'site') fields.push(name, value);
    } else if (kind === 'cache') cacheControl += cacheControl === '' ? value : `, ${value}`;
    // RFC 9110 §8.6: a 204 has no length.
    else if (kind !== 'length' || status !== 204) fields.push(name, value);
  }
  return fields.concat(cacheFields(cacheControl, policy));
}

/**
 * What is a member's never enters a shared cache: an upstream that sees no Authorization may well call its answer
 * public. What is anonymous on a protected path may be cached, but differs from what a member is answered.
 */
function cacheFields(given: string, policy: ResponsePolicy): string[] {
  if (policy.lane === 'protected' && policy.member && !/(^|[\s,])(private|no-store)([\s,=]|$)/i.test(given)) {
    return ['Cache-Control', 'private, no-store'];
  }
  const vary = policy.lane === 'protected' && !policy.member ? ['Vary', 'Authorization'] : [];
  return given === '' ? vary : ['Cache-Control', given, ...vary];
}

/** The field names that Connection lists, in lower case; the options of the connection itself are not among them. */
function connectionOptions(raw: readonly string[]): ReadonlySet<string> {
  let names: Set<string> | undefined;
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] as string;
    const value = raw[at + 1] as string;
    if (name.length !== 10 || value === 'keep-alive' || name.toLowerCase() !== 'connection') continue;
    names ??= new Set();
    for (const option of value.split(',')) names.add(option.trim().toLowerCase());
  }
  return names ?? NONE;
}

function invalid(what: string): GatewayError {
  return new GatewayError('upstream_invalid', { cause: new Error(`The upstream answered with ${what}.`) });
}
