import { isIP } from 'node:net';
import type { Config, UpstreamConfig } from '../config/schema.ts';
import { type CredentialConfig, credentialField } from '../config/upstream-credential.ts';
import { GatewayError } from '../errors.ts';
import { type RequestField, type ResponseField, requestFields, responseFields } from '../http/header-names.ts';
import type { Provenance } from '../http/provenance.ts';
import { cookieName, publicCookie, withoutCookies } from './cookies.ts';
import { pathPrefix, publicLink, publicLocation, publicRefresh } from './location.ts';

/**
 * The header policy, for both lanes and for upgrades. Fields are flat arrays of name and value, as `rawHeaders` gives
 * and takes them: nothing is merged, and a repeated field cannot hide behind an object key.
 *
 * On the `protected` lane the principal is the only identity: no Authorization, no Cookie, no Set-Cookie, no challenge
 * and no CORS policy of the upstream, and of a request only the fields that are known. An upstream's 401 is a 403 there:
 * the token was good, and a 401 would send the app to fetch another one. On the `site` lane the legacy site keeps its
 * own cookies, its own HTTP authentication, and every field that is not known to be dangerous.
 */
type Lane = 'protected' | 'site';

interface RequestPolicy {
  readonly lane: Lane;
  /** On the site's lane: whether a bearer token passes, which is else taken to be meant for us. */
  readonly foreignToken?: boolean;
  readonly judge: (name: string) => RequestField;
  /** What Host says to the upstream. */
  readonly host: string;
  /** Our public origin, as an upstream is told it. */
  readonly origin: ForwardedOrigin;
  /** Cookies of the gate itself: never shown to an upstream. */
  readonly ownCookie: (name: string) => boolean;
}

export interface ResponsePolicy {
  readonly lane: Lane;
  readonly judge: (name: string) => ResponseField;
  readonly origin: string;
  /** By which URLs the upstreams call themselves; the one that answers first. */
  readonly internal: readonly [URL, ...URL[]];
  readonly ownCookie: (name: string) => boolean;
}

/** One upstream's policy on one lane, made once. */
export interface HeaderPolicy {
  readonly request: RequestPolicy;
  readonly response: ResponsePolicy;
  /** By which name an https upstream is called (SNI) and verified, whatever Host says; '' for an address: as Host. */
  readonly servername: string;
}

/** In: the lane, the upstream's name among all that are configured, our origin, which cookies are the gate's own. */
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
 * What Host says to an upstream. Over http it is the application beside us, which makes links and redirects of the name
 * it is known by; over https it is somebody's server, which finds the site and its certificate by its own name.
 */
function hostFor(upstream: UpstreamConfig, origin: string): string {
  const url = new URL(upstream.url);
  const told = upstream.host ?? (url.protocol === 'https:' ? 'upstream' : 'public');
  return told === 'public' ? new URL(origin).host : url.host;
}

/**
 * The fields of a credential, which no client may say itself. Those that members' own browsers are known by stay as they
 * are on the site: its cookies, and HTTP authentication, of which a Bearer token is for us in any case.
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

/** For our own calls to an upstream: the fields that place them at our origin, and the name to verify it by. */
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
 * Where an upstream is in its own eyes, for our own calls to its pages. Out: its origin, every other origin that it may call
 * itself by (with either scheme: behind a proxy many a backend does not know that it is on https), and what its URL has
 * before every path.
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

/** The URLs of one upstream: the one it is called by, then the same under its aliases. */
function namesOf(upstream: UpstreamConfig): URL[] {
  return [upstream.url, ...upstream.aliases.map((alias) => `http://${alias}${new URL(upstream.url).pathname}`)].map(
    (text) => new URL(text),
  );
}

const ILLEGAL_VALUE = /[^\t\x20-\x7E\x80-\xFF]/;
const NONE: ReadonlySet<string> = new Set();

/** The parts of our origin that forwarding fields name, taken apart once. */
interface ForwardedOrigin {
  readonly host: string;
  readonly scheme: string;
  readonly port: string;
  /** What follows `for=` in Forwarded (RFC 7239); a host with a port is quoted. */
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
 * The fields an upstream is sent, without framing and identity, which the sender adds after. In: the fields as
 * received and where they came from. What Connection names is removed first (RFC 9110 §7.6.1), so that a client cannot
 * use it on what we add.
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
  // A bearer token is meant for us. Two credentials are nobody's: servers differ on which one counts.
  const ours = policy.foreignToken !== true && /^\s*(bearer|dpop)([\s,]|$)/i.test(authorizations[1] ?? '');
  if (authorizations.length === 2 && !ours) fields.push(...authorizations);
  return forwarded(fields, provenance, policy.origin);
}

/**
 * Adds where a request came from and where to, in every spelling backends read: the client and the proxies that are
 * vouched for, our own origin whatever Host said, the request id and the trace. Always set, never left to what was sent.
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

/** An answer's first lines as a client is sent them. */
export interface ResponseHead {
  readonly status: number;
  readonly fields: string[];
}

/**
 * What a client is sent of an answer. In: the final status and the fields as the upstream gave them, and whether the
 * answer is for an identified member. Hop-by-hop fields, the upstream's traces and identity names are removed, and
 * internal addresses made ours.
 * Throws GatewayError `upstream_invalid` for a status or a value that cannot be passed on.
 */
export function responseHead(
  status: number,
  raw: readonly string[],
  policy: ResponsePolicy,
  member: boolean,
): ResponseHead {
  // A 407 asks a proxy to say who it is; here that is us, and no client can help.
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
    // Any other than chunked stays in the body, which nobody could then read (RFC 9112 §6.1): we never ask for one.
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
        // RFC 9110 §8.6: a 204 has no length.
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
        // Challenges, CORS and Clear-Site-Data speak for a whole origin: on a protected path that is for us to do.
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
 * What is a member's never enters a shared cache: an upstream that sees no Authorization may well call its answer
 * public. What is anonymous on a protected path may be cached, but differs from what a member is answered. What has
 * gone wrong is asked for again.
 */
function cacheFields(fields: string[], given: string, status: number, member: boolean): void {
  if (status >= 400 || (member && !isPrivate(given))) {
    fields.push('Cache-Control', 'private, no-store');
    return;
  }
  if (given !== '') fields.push('Cache-Control', given);
  fields.push('Vary', 'Authorization');
}

/** Whether it is so as a whole: `private="x"` speaks of the field x only (RFC 9111 §5.2.2.7). */
function isPrivate(cacheControl: string): boolean {
  return !cacheControl.includes('"') && /(^|,)\s*(private|no-store)\s*(,|$)/i.test(cacheControl);
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
