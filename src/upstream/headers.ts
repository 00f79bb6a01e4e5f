import { isIP } from 'node:net';
import type { Config, UpstreamConfig } from '../config/schema.ts';
import { type CredentialConfig, credentialField } from '../config/upstream-credential.ts';
import { GatewayError } from '../errors.ts';
import { type RequestField, type ResponseField, requestFields, responseFields } from '../http/header-names.ts';
import type { Provenance } from '../http/provenance.ts';
import { cookieName, publicCookie, withoutCookies } from './cookies.ts';
import { pathPrefix, publicLink, publicLocation, publicRefresh } from './location.ts';

/**
 * The header policy, for both lanes and for upgrades. Fields are flat arrays of names and values, as in `rawHeaders`:
 * nothing is merged, and a repeated field cannot hide behind an object key.
 *
 * On the `protected` lane the principal is the only identity. Authorization, Cookie, Set-Cookie, challenges and the
 * upstream's CORS policy are removed, and only known request fields pass. An upstream's 401 becomes a 403 there: the
 * token was valid, and a 401 would make the app request another one. On the `site` lane the legacy site keeps its own
 * cookies, its own HTTP authentication, and every field that is not known to be dangerous.
 */
type Lane = 'protected' | 'site';

interface RequestPolicy {
  readonly lane: Lane;
  /** On the site lane: whether to pass a bearer token on. By default it is assumed to be meant for us and removed. */
  readonly foreignToken?: boolean;
  readonly judge: (name: string) => RequestField;
  /** The Host that is sent to the upstream. */
  readonly host: string;
  /** Our public origin, for the forwarding fields. */
  readonly origin: ForwardedOrigin;
  /** Matches the gate's own cookies, which are never sent to an upstream. */
  readonly ownCookie: (name: string) => boolean;
}

export interface ResponsePolicy {
  readonly lane: Lane;
  readonly judge: (name: string) => ResponseField;
  readonly origin: string;
  /** The URLs by which upstreams refer to themselves; the first is the upstream that responds. */
  readonly internal: readonly [URL, ...URL[]];
  readonly ownCookie: (name: string) => boolean;
}

/** The policy of one upstream on one lane. Created once. */
export interface HeaderPolicy {
  readonly request: RequestPolicy;
  readonly response: ResponsePolicy;
  /**
   * The name for SNI and certificate verification of an https upstream, whatever Host says; '' for an IP address: Host
   * is used.
   */
  readonly servername: string;
}

/** `name` is the upstream's key in `upstreams`; `ownCookie` matches the gate's own cookies. */
export function headerPolicy(options: {
  lane: Lane;
  upstreams: Config['upstreams'];
  name: string;
  origin: string;
  ownCookie: (name: string) => boolean;
}): HeaderPolicy {
  const { lane, upstreams, origin, ownCookie } = options;
  const upstream = upstreams[options.name];
  if (upstream === undefined) throw new Error(`There is no upstream named ${options.name}.`);
  const url = new URL(upstream.url);
  const others = Object.values(upstreams).filter((other) => other !== upstream);
  const { request, response } = upstream.headers;
  return {
    request: {
      lane,
      judge: requestFields({
        knownOnly: lane === 'protected',
        ...request,
        drop: [...request.drop, ...credentialNames(upstream.credential, lane)],
      }),
      host: hostFor(upstream, origin),
      origin: forwardedOrigin(origin),
      ownCookie,
    },
    response: {
      lane,
      judge: responseFields(response),
      origin,
      internal: [url, ...namesOf(upstream).slice(1), ...others.flatMap(namesOf)],
      ownCookie,
    },
    servername: serverName(url),
  };
}

/**
 * The Host for an upstream. An http upstream is the application next to us, which builds links and redirects from its
 * public name. An https upstream is a remote server, which finds the site and its certificate by its own name.
 */
function hostFor(upstream: UpstreamConfig, origin: string): string {
  const url = new URL(upstream.url);
  const told = upstream.host ?? (url.protocol === 'https:' ? 'upstream' : 'public');
  return told === 'public' ? new URL(origin).host : url.host;
}

/**
 * The fields of a credential, which clients must not set themselves. On the site lane, what browsers authenticate with
 * is left alone: the site's cookies, and HTTP authentication (a Bearer token there is for us in any case).
 */
function credentialNames(credential: CredentialConfig | undefined, lane: Lane): readonly string[] {
  const field = credentialField(credential);
  const csrf = credential?.kind === 'session' && lane === 'protected' ? [credential.csrf?.header ?? []].flat() : [];
  return field === undefined || field === 'cookie' || (field === 'authorization' && lane === 'site')
    ? csrf
    : [field, ...csrf];
}

function serverName(url: URL): string {
  return isIP(url.hostname.replace(/^\[|\]$/g, '')) === 0 ? url.hostname : '';
}

/**
 * For our own calls to an upstream: the fields that present them as calls to our public origin, and the name to verify
 * its certificate by.
 */
export function ownCallFields(upstream: UpstreamConfig, origin: string) {
  const { host, scheme, port } = forwardedOrigin(origin);
  const fields = {
    host: hostFor(upstream, origin),
    'x-forwarded-host': host,
    'x-forwarded-proto': scheme,
    'x-forwarded-port': port,
  };
  return { fields, servername: serverName(new URL(upstream.url)) };
}

/**
 * How an upstream sees itself, for our own calls to its pages: its origin, all other origins it may use for itself
 * (with either scheme, because many backends behind a proxy do not know that they are on https), and its path prefix.
 */
export function ownCallPlace(upstream: UpstreamConfig, origin: string) {
  const url = new URL(upstream.url);
  const host = hostFor(upstream, origin);
  const hosts = [new URL(origin).host, ...namesOf(upstream).map((name) => name.host)];
  return {
    origin: host === new URL(origin).host ? origin : url.origin,
    aliases: hosts.flatMap((name) => [`http://${name}`, `https://${name}`]),
    prefix: pathPrefix(url),
  };
}

/** The URLs of one upstream: the configured one first, then the same under its aliases. */
function namesOf(upstream: UpstreamConfig): URL[] {
  return [upstream.url, ...upstream.aliases.map((alias) => `http://${alias}${new URL(upstream.url).pathname}`)].map(
    (text) => new URL(text),
  );
}

const ILLEGAL_VALUE = /[^\t\x20-\x7E\x80-\xFF]/;
const NONE: ReadonlySet<string> = new Set();

/** The parts of our origin that the forwarding fields need, computed once. */
interface ForwardedOrigin {
  readonly host: string;
  readonly scheme: string;
  readonly port: string;
  /** What follows `for=` in Forwarded (RFC 7239). A host with a port is quoted. */
  readonly forwarded: string;
}

function forwardedOrigin(origin: string): ForwardedOrigin {
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

/**
 * The fields for an upstream, without framing and identity, which the sender adds afterwards. Fields that Connection
 * names are removed first (RFC 9110 section 7.6.1), so that a client cannot use it to remove the fields that we add.
 */
export function requestHeaders(raw: readonly string[], provenance: Provenance, policy: RequestPolicy): string[] {
  const listed = connectionOptions(raw);
  const authorizations: string[] = [];
  const fields: string[] = ['Host', policy.host];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] as string;
    const value = raw[at + 1] as string;
    const kind = policy.judge(name);
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
  // A bearer token is meant for us. With two Authorization fields, neither is passed on: servers differ on which one
  // counts.
  const ours = policy.foreignToken !== true && /^\s*(bearer|dpop)([\s,]|$)/i.test(authorizations[1] ?? '');
  if (authorizations.length === 2 && !ours) fields.push(...authorizations);
  return forwarded(fields, provenance, policy.origin);
}

/**
 * Adds where a request came from and was sent to, in every form that backends read: the client and the trusted proxies,
 * our own origin whatever Host said, the request id and the trace. Always set by us, never copied from the client.
 */
function forwarded(fields: string[], provenance: Provenance, origin: ForwardedOrigin): string[] {
  const { clientAddress, hops, requestId } = provenance;
  if (clientAddress !== '') {
    const node = clientAddress.includes(':') ? `"[${clientAddress}]"` : clientAddress;
    fields.push('X-Forwarded-For', hops, 'X-Real-IP', clientAddress, 'Forwarded', `for=${node}${origin.forwarded}`);
  }
  fields.push('X-Forwarded-Host', origin.host, 'X-Forwarded-Proto', origin.scheme, 'X-Forwarded-Port', origin.port);
  fields.push('X-Request-Id', requestId, ...provenance.traceFields());
  return fields;
}

/** The status and header fields of a response for the client. */
export interface ResponseHead {
  readonly status: number;
  readonly fields: string[];
}

/**
 * The response head for the client, given the upstream's final status and raw fields. Removes hop-by-hop fields, the
 * upstream's trace fields and identity names, and rewrites internal addresses to our origin.
 * Throws GatewayError `upstream_invalid` for a status or a value that cannot be passed on.
 * @param member whether the response is for an identified member
 */
export function responseHead(
  status: number,
  raw: readonly string[],
  policy: ResponsePolicy,
  member: boolean,
): ResponseHead {
  // A 407 asks a proxy to authenticate. Here that proxy is us, and the client cannot do anything about it.
  if (!(status >= 200 && status <= 599) || status === 407) throw invalid(`status ${status}`);
  const listed = connectionOptions(raw);
  const fields: string[] = [];
  const site = policy.lane === 'site';
  const secret = !site && (member || status >= 400);
  let cacheControl = '';
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] as string;
    const value = raw[at + 1] as string;
    const kind = policy.judge(name);
    // Node leaves any coding but chunked in the body, where no client could decode it (RFC 9112 section 6.1). We never
    // request one.
    if (kind === 'coding' && value.trim().toLowerCase() !== 'chunked') throw invalid('a transfer coding');
    if (
      kind === 'drop' ||
      kind === 'coding' ||
      kind === 'connection' ||
      (listed.size > 0 && kind !== 'length' && listed.has(name.toLowerCase()))
    )
      continue;
    if (ILLEGAL_VALUE.test(value)) throw invalid(`a control character in ${name}`);
    switch (kind) {
      case 'pass':
        fields.push(name, value);
        break;
      case 'length':
        // A 204 has no Content-Length (RFC 9110 section 8.6).
        if (status !== 204) fields.push(name, value);
        break;
      case 'location':
        fields.push(name, publicLocation(value, policy.internal, policy.origin));
        break;
      case 'link':
        fields.push(name, publicLink(value, policy.internal, policy.origin));
        break;
      case 'refresh':
        fields.push(name, publicRefresh(value, policy.internal, policy.origin));
        break;
      case 'set-cookie':
        if (site && !policy.ownCookie(cookieName(value))) fields.push(name, publicCookie(value, policy.internal[0]));
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

function invalid(what: string): GatewayError {
  return new GatewayError('upstream_invalid', { cause: new Error(`The upstream answered with ${what}.`) });
}
