import { GatewayError } from '../errors.ts';
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
  /** Our public origin, as X-Forwarded-Host and -Proto tell the upstream. */
  readonly origin: URL;
  /** Cookies of the gate itself: never shown to an upstream. */
  readonly ownCookie: (name: string) => boolean;
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
 * received and the address of the socket they came from. What Connection names is removed first (RFC 9110 §7.6.1), so
 * that a client cannot use it on what we add. X-Forwarded-* are ours alone: no proxy before us is trusted.
 */
export function requestHeaders(raw: readonly string[], address: string | undefined, policy: RequestPolicy): string[] {
  const listed = connectionOptions(raw);
  const authorizations: string[] = [];
  const fields: string[] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] as string;
    const value = raw[at + 1] as string;
    const kind = requestField(name);
    if (kind === 'drop' || kind === 'connection' || (listed.size > 0 && listed.has(name.toLowerCase()))) continue;
    if (kind === 'pass') fields.push(name, value);
    else if (policy.lane === 'protected') continue;
    else if (kind === 'authorization') authorizations.push(name, value);
    else {
      const kept = withoutCookies(value, policy.ownCookie);
      if (kept !== '') fields.push(name, kept);
    }
  }
  // A bearer token is meant for us. Two credentials are nobody's: servers differ on which one counts.
  if (authorizations.length === 2 && !/^\s*(bearer|dpop)([\s,]|$)/i.test(authorizations[1] ?? ''))
    fields.push(...authorizations);
  if (address !== undefined) fields.push('X-Forwarded-For', address.replace(/^::ffff:(?=\d)/i, ''));
  fields.push('X-Forwarded-Host', policy.origin.host, 'X-Forwarded-Proto', policy.origin.protocol.slice(0, -1));
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
