import { isOwnCookie } from '../http/own-cookie.ts';
import type { Provenance } from '../http/provenance.ts';
import { cookieName, publicCookie, withoutCookies } from './cookies.ts';
import { unusableResponse } from './failures.ts';
import type { ForwardedOrigin, HeaderPolicy } from './header-policy.ts';
import type { BodyMap } from './json-links.ts';
import { publicLink, publicLocation, publicRefresh, type ToPublic } from './location.ts';

const ILLEGAL_VALUE = /[^\t\x20-\x7E\x80-\xFF]/;
const NONE: ReadonlySet<string> = new Set();
const NO_FIELDS: readonly string[] = [];
const NOBODY = { clientAddress: '', hops: '' };

/**
 * The fields for an upstream, without framing and identity, which the sender adds afterwards. Fields that Connection
 * names are removed first (RFC 9110 section 7.6.1), so that a client cannot use it to remove the fields that we add.
 * @param foreignToken whether to pass a bearer token on to the site, because it is known not to be ours
 */
export function requestHeaders(
  raw: readonly string[],
  provenance: Provenance,
  policy: HeaderPolicy,
  foreignToken = false,
): string[] {
  const listed = connectionOptions(raw);
  const authorizations: string[] = [];
  const fields: string[] = ['Host', policy.host];
  let via = '';
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] as string;
    const value = raw[at + 1] as string;
    const kind = policy.requestField(name);
    if (kind === 'drop' || kind === 'connection' || (listed.size > 0 && listed.has(name.toLowerCase()))) continue;
    if (kind === 'pass') fields.push(name, value);
    else if (kind === 'via') via += `${value}, `;
    else if (kind === 'trace') {
      if (provenance.trusted) fields.push(name, value);
    } else if (policy.lane === 'protected') continue;
    else if (kind === 'authorization') authorizations.push(name, value);
    else {
      const kept = withoutCookies(value, isOwnCookie);
      if (kept !== '') fields.push(name, kept);
    }
  }
  // A bearer token is meant for us. With two Authorization fields, neither is passed on: servers differ on which one
  // counts.
  const ours = !foreignToken && /^\s*(bearer|dpop)([\s,]|$)/i.test(authorizations[1] ?? '');
  if (authorizations.length === 2 && !ours) fields.push(...authorizations);
  addForwardingFields(fields, provenance, policy.forwarded, via);
  return fields;
}

/**
 * Adds where a request came from and was sent to, in every form that backends read: the client and the trusted proxies,
 * our own origin whatever Host said, the request id and the trace. Always set by us, never copied from the client.
 *
 * The only place that writes these fields, for forwarded requests and for the gate's own calls.
 * @param provenance of the request that is forwarded or that caused the call; undefined: no request caused it
 * @param via the entries of the request in Via, each with `, ` behind it, to which ours is added (RFC 9110 section 7.6.3)
 */
export function addForwardingFields(
  fields: string[],
  provenance: Provenance | undefined,
  origin: ForwardedOrigin,
  via = '',
): void {
  const { clientAddress, hops } = provenance ?? NOBODY;
  if (clientAddress !== '') {
    const node = clientAddress.includes(':') ? `"[${clientAddress}]"` : clientAddress;
    fields.push('X-Forwarded-For', hops, 'X-Real-IP', clientAddress, 'Forwarded', `for=${node}${origin.forwarded}`);
  }
  fields.push('X-Forwarded-Host', origin.host, 'X-Forwarded-Proto', origin.scheme, 'X-Forwarded-Port', origin.port);
  fields.push('Via', via + origin.via);
  if (provenance !== undefined) fields.push('X-Request-Id', provenance.requestId, ...provenance.traceFields());
}

const PUBLIC = {
  location: (value: string, toPublic: ToPublic) => toPublic(value),
  link: publicLink,
  refresh: publicRefresh,
};

/** The status and header fields of a response for the client. */
export interface ResponseHead {
  readonly status: number;
  readonly fields: string[];
  /** Changes the body; undefined: it is passed on as it is. */
  readonly body?: BodyMap | undefined;
}

/**
 * The response head for the client, given the upstream's final status and raw fields. Removes hop-by-hop fields, the
 * upstream's trace fields and identity names, and rewrites internal addresses to our origin.
 * Throws GatewayError `upstream_invalid` for a status or a value that cannot be passed on.
 * @param member whether the response is for an identified member
 * @param toPublic maps the references in fields; by default, addresses of upstreams to the same path of our origin
 * @param own fields of ours, which come first
 */
export function responseHead(
  status: number,
  raw: readonly string[],
  policy: Pick<HeaderPolicy, 'lane' | 'responseField' | 'origin' | 'internal'>,
  member: boolean,
  toPublic?: ToPublic,
  own: readonly string[] = NO_FIELDS,
): ResponseHead {
  // A 407 asks a proxy to authenticate. Here that proxy is us, and the client cannot do anything about it.
  if (!(status >= 200 && status <= 599) || status === 407) throw unusableResponse(`status ${status}`);
  const listed = connectionOptions(raw);
  const fields = [...own];
  const site = policy.lane === 'site';
  const secret = !site && (member || status >= 400);
  let cacheControl = '';
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] as string;
    const value = raw[at + 1] as string;
    const kind = policy.responseField(name);
    // Node leaves any coding but chunked in the body, where no client could decode it (RFC 9112 section 6.1). We never
    // request one.
    if (kind === 'coding' && value.trim().toLowerCase() !== 'chunked') throw unusableResponse('a transfer coding');
    if (
      kind === 'drop' ||
      kind === 'coding' ||
      kind === 'connection' ||
      (listed.size > 0 && kind !== 'length' && listed.has(name.toLowerCase()))
    )
      continue;
    if (ILLEGAL_VALUE.test(value)) throw unusableResponse(`a control character in ${name}`);
    switch (kind) {
      case 'pass':
        fields.push(name, value);
        break;
      case 'length':
        // A 204 has no Content-Length (RFC 9110 section 8.6).
        if (status !== 204) fields.push(name, value);
        break;
      case 'location':
      case 'link':
      case 'refresh':
        fields.push(name, PUBLIC[kind](value, toPublic ?? ((reference) => publicLocation(reference, policy))));
        break;
      case 'set-cookie':
        if (site && !isOwnCookie(cookieName(value))) fields.push(name, publicCookie(value, policy.internal[0].url));
        break;
      case 'cache':
        cacheControl += cacheControl === '' ? value : `, ${value}`;
        break;
      case 'freshness':
        if (!secret) fields.push(name, value);
        break;
      default:
        // Challenges, CORS and Clear-Site-Data apply to a whole origin: on a protected path we set them.
        if (site) fields.push(name, value);
    }
  }
  if (site) {
    if (cacheControl !== '') fields.push('Cache-Control', cacheControl);
    return { status, fields };
  }
  cacheFields(fields, cacheControl, status, member);
  return { status: status === 401 ? 403 : status, fields };
}

/**
 * A member's response must never enter a shared cache: an upstream that sees no Authorization may well mark it as
 * public. Anonymous responses on a protected path may be cached, but they differ from what a member receives. Errors
 * are not cached.
 */
function cacheFields(fields: string[], given: string, status: number, member: boolean): void {
  if (status >= 400 || (member && !isPrivate(given))) {
    fields.push('Cache-Control', 'private, no-store');
    return;
  }
  if (given !== '') fields.push('Cache-Control', given);
  fields.push('Vary', 'Authorization');
}

/**
 * Whether the directive covers the whole response: `private="x"` covers only the field x (RFC 9111 section 5.2.2.7).
 */
function isPrivate(cacheControl: string): boolean {
  return !cacheControl.includes('"') && /(^|,)\s*(private|no-store)\s*(,|$)/i.test(cacheControl);
}

/** The field names that Connection lists, in lower case. */
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
