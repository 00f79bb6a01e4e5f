import { ORIGIN_FIELDS, TRUSTED_IDENTITY } from './trusted-headers.ts';

/**
 * Which header fields may pass the gate, by name. Names are compared in a folded form (lower case, every other
 * character a '-'), because upstreams fold too: to CGI and WSGI `X_Member_Id` and `X-Member-Id` are one variable.
 */
export type RequestField = 'pass' | 'drop' | 'trace' | 'cookie' | 'authorization' | 'connection' | 'via';
export type ResponseField =
  | 'pass'
  | 'drop'
  | 'connection'
  | 'location'
  | 'link'
  | 'refresh'
  | 'set-cookie'
  | 'clear-site-data'
  | 'challenge'
  | 'cors'
  | 'cache'
  | 'freshness'
  | 'length'
  | 'coding';

/** RFC 9110 section 7.6.1, and further fields that only concern one connection. */
const HOP_BY_HOP = ['keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'http2-settings', 'proxy'];

/**
 * Fields that a backend might trust: neither clients nor upstreams may send identity, and clients may not send origin.
 */
const isTrustedIdentity = matcher(TRUSTED_IDENTITY);
const isTrustedOrigin = matcher(ORIGIN_FIELDS);

/** Set by us for the upstream, or handled by the server that reads the request. */
const OURS_TO_SET = ['host', 'content-length', 'expect', 'traceparent', 'tracestate', 'x-request-id'];

/**
 * Trace fields in formats other than W3C's. Those from a trusted proxy are passed on; others could write into our
 * traces.
 */
const TRACE = new Set(['b3', 'baggage', 'uber-trace-id', 'x-amzn-trace-id', 'x-cloud-trace-context']);
const TRACE_PREFIXES = ['x-b3-', 'x-datadog-', 'uberctx-'];

/** Response fields that reveal an upstream's internals, or instruct a proxy in front of us. */
const INTERNAL = [
  'alt-svc',
  'server',
  'set-cookie2',
  'traceparent',
  'tracestate',
  'via',
  'x-aspnet-version',
  'x-aspnetmvc-version',
  'x-lighttpd-send-file',
  'x-powered-by',
  // Ours is already set. A client that quotes a request id must quote the one in our log.
  'x-request-id',
  'x-runtime',
  'x-sendfile',
];
const INTERNAL_PREFIXES = ['x-debug-', 'x-internal-', 'x-reproxy-'];

const REQUEST_DROPPED = new Set([...HOP_BY_HOP, ...OURS_TO_SET]);
const RESPONSE_DROPPED = new Set([...HOP_BY_HOP, ...INTERNAL]);

/** Returns a test for folded names. `names` are written as in `TRUSTED_IDENTITY`. */
function matcher(names: readonly string[]): (name: string) => boolean {
  const whole = new Set(names.filter((name) => !name.endsWith('*')));
  const prefixes = names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
  return (name) => whole.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
}

function isIdentity(name: string): boolean {
  return isTrustedIdentity(name) || name.endsWith('-jwt-assertion');
}

/** What clients of APIs send: for gateways that pass fields by their names. */
export const API_FIELDS: readonly string[] = [
  ...['accept', 'accept-encoding', 'accept-language', 'content-type', 'content-encoding', 'origin'],
  ...['range', 'if-range', 'if-unmodified-since', 'if-match', 'if-none-match', 'last-event-id'],
  ...['if-modified-since', 'user-agent', 'prefer', 'idempotency-key', 'mcp-session-id'],
  ...['x-requested-with', 'mcp-protocol-version'],
];

/**
 * What a request to a protected path may carry otherwise: its subject, conditions and client. Everything else is
 * dropped: a backend that trusts some name of its own must not receive it from a third-party app.
 */
const ALLOWED = new Set([
  ...API_FIELDS,
  ...['accept-charset', 'accept-version', 'api-version', 'cache-control', 'pragma', 'content-language'],
  ...['content-disposition', 'content-range', 'content-location', 'content-md5', 'content-digest', 'digest'],
  ...['repr-digest', 'want-content-digest', 'want-repr-digest', 'date', 'referer', 'x-api-version', 'priority'],
  ...['save-data', 'early-data', 'dnt', 'sec-gpc', 'mcp-method', 'mcp-name'],
]);
const ALLOWED_PREFIXES = ['sec-fetch-', 'sec-ch-'];

/** Fields that only the browser sets and that pages cannot set (Fetch, forbidden request-header). */
const BROWSERS_OWN = new Set(['accept-charset', 'accept-encoding', 'date', 'dnt', 'origin', 'referer', 'sec-gpc']);

/**
 * Fields that apps and their libraries send to the gate itself. Trace and request id are ignored unless a trusted proxy
 * sent them.
 */
const TO_THE_GATE = ['authorization', 'dpop', 'x-request-id', 'traceparent', 'tracestate', 'baggage'];

/** Every field that a page of another origin may send to a protected route, for the preflight response. */
export const PAGE_FIELDS: readonly string[] = [
  ...TO_THE_GATE,
  ...[...ALLOWED].filter((name) => !BROWSERS_OWN.has(name)),
];

/** Whether a backend may take a request field, in any spelling, for an identity, an origin or another method. */
export function isTrustedField(name: string): boolean {
  const folded = foldedName(name);
  return isIdentity(folded) || isTrustedOrigin(folded);
}

/** The form in which field names are compared. */
export function foldedName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '-');
}

/** Whether a request field may be sent to an upstream at all, whatever the operator configures. */
export function mayBeSent(name: string): boolean {
  return requestField(name) === 'pass';
}

export interface RequestFieldsOptions {
  /** true: only known names and those in `allow` pass. false: everything passes that is not known to be dangerous. */
  readonly knownOnly: boolean;
  /** Additional names that pass. */
  readonly allow: readonly string[];
  /** Additional names that are dropped. */
  readonly drop: readonly string[];
}

/** Returns the classification of request fields for one upstream and lane, by the name as received. */
export function requestFields(options: RequestFieldsOptions): (name: string) => RequestField {
  const allow = new Set(options.allow.map(foldedName));
  const drop = new Set(options.drop.map(foldedName));
  const known = (name: string) =>
    ALLOWED.has(name) || allow.has(name) || ALLOWED_PREFIXES.some((prefix) => name.startsWith(prefix));
  return remembered((name) => {
    const kind = requestField(name);
    const folded = foldedName(name);
    if (kind === 'connection') return kind;
    if (drop.has(folded)) return 'drop';
    return kind === 'pass' && options.knownOnly && !known(folded) ? 'drop' : kind;
  });
}

/** Classifies a request field by its name, with the rules that apply to all upstreams. */
export function requestField(name: string): RequestField {
  const folded = foldedName(name);
  if (folded === 'cookie' || folded === 'authorization' || folded === 'connection' || folded === 'via') return folded;
  // nginx drops such names too: most frameworks read them as the name with dashes.
  if (/[_.]/.test(name) || REQUEST_DROPPED.has(folded) || folded.startsWith('proxy-') || isIdentity(folded))
    return 'drop';
  if (TRACE.has(folded) || TRACE_PREFIXES.some((prefix) => folded.startsWith(prefix))) return 'trace';
  return isTrustedOrigin(folded) ? 'drop' : 'pass';
}

const RESPONSE_SPECIAL: Readonly<Record<string, ResponseField>> = {
  connection: 'connection',
  location: 'location',
  'content-location': 'location',
  sourcemap: 'location',
  link: 'link',
  refresh: 'refresh',
  'set-cookie': 'set-cookie',
  'clear-site-data': 'clear-site-data',
  'www-authenticate': 'challenge',
  'cache-control': 'cache',
  expires: 'freshness',
  pragma: 'freshness',
  'surrogate-control': 'freshness',
  'content-length': 'length',
};

/**
 * Returns the classification of response fields for one upstream. Unknown fields pass: what a response can do to a
 * client is limited to the names below, but what a request does to a backend only the backend knows.
 */
export function responseFields(options: { drop: readonly string[] }): (name: string) => ResponseField {
  const drop = new Set(options.drop.map(foldedName));
  return remembered((name) => {
    const lower = name.toLowerCase();
    const folded = foldedName(name);
    if (lower === 'connection') return 'connection';
    if (lower === 'transfer-encoding') return 'coding';
    if (drop.has(folded)) return 'drop';
    if (Object.hasOwn(RESPONSE_SPECIAL, lower)) return RESPONSE_SPECIAL[lower] ?? 'pass';
    if (lower.startsWith('access-control-')) return 'cors';
    // RFC 9213: directives for a specific cache, where they override Cache-Control.
    if (lower.endsWith('-cache-control')) return 'freshness';
    if (RESPONSE_DROPPED.has(folded) || folded.startsWith('proxy-') || isIdentity(folded)) return 'drop';
    // X-Accel-Buffering is meant for a proxy in front of us. The other X-Accel fields would make that proxy serve
    // internal files.
    if (folded.startsWith('x-accel-')) return folded === 'x-accel-buffering' ? 'pass' : 'drop';
    return INTERNAL_PREFIXES.some((prefix) => folded.startsWith(prefix)) ? 'drop' : 'pass';
  });
}

const NAMES_REMEMBERED = 512;
const LONGEST_REMEMBERED = 64;

/**
 * Remembers what a function returns for the last few hundred short texts, such as field names, of which clients use few.
 * The limits stop a client that invents texts from filling memory.
 */
export function remembered<T>(classify: (name: string) => T): (name: string) => T {
  const known = new Map<string, T>();
  return (name) => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const kind = classify(name);
    if (known.size >= NAMES_REMEMBERED) known.clear();
    if (name.length <= LONGEST_REMEMBERED) known.set(name, kind);
    return kind;
  };
}
