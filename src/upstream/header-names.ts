/**
 * Which header fields may cross the gate, by name. Names are judged in a folded form (lower case, every other
 * character a '-'), because upstreams fold too: to CGI and WSGI `X_Member_Id` and `X-Member-Id` are one variable.
 */
export type RequestField = 'pass' | 'drop' | 'trace' | 'cookie' | 'authorization' | 'connection';
export type ResponseField =
  | 'pass'
  | 'drop'
  | 'connection'
  | 'location'
  | 'set-cookie'
  | 'challenge'
  | 'cors'
  | 'cache'
  | 'length';

/** RFC 9110 §7.6.1, and what only ever concerned one connection. */
const HOP_BY_HOP = ['keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'http2-settings', 'proxy'];

/** Identity as we and other gates spell it. What a backend might trust, no client and no upstream may say. */
const IDENTITY = [
  'x-member',
  'x-client-id',
  'x-access-token',
  'x-id-token',
  'x-userinfo',
  'x-user',
  'x-user-id',
  'x-user-email',
  'x-username',
  'dpop',
];
const IDENTITY_PREFIXES = [
  'x-member-',
  'x-coursegate-',
  'x-forwarded-',
  'x-auth-request-',
  'x-authenticated-',
  'x-authentik-',
  'x-amzn-oidc-',
  'x-consumer-',
  'x-credential-',
  'x-goog-authenticated-',
  'x-goog-iap-',
  'x-ms-client-principal',
  'x-ms-token-',
  'x-pomerium-',
  'x-remote-',
  'x-webauth-',
  'cf-access-',
  'remote-',
  'ssl-client-',
];

/** Where a request came from, and what it really asks for: told by a proxy we trust, or by nobody. */
const FORWARDING = [
  'forwarded',
  'true-client-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-host',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-originating-ip',
  'x-override-url',
  'x-real-ip',
  'x-rewrite-url',
];
const FORWARDING_PREFIXES = [
  'cf-connecting-ip',
  'fastly-client-',
  'x-accel-',
  'x-envoy-',
  'x-middleware-',
  'x-original-',
];

/** Set anew for the upstream, or handled by the server that reads the request. */
const OURS_TO_SET = ['host', 'content-length', 'expect', 'traceparent', 'tracestate', 'x-request-id'];

/** Traces in other dialects than W3C's: a trusted proxy's are passed on, a stranger would write into our traces. */
const TRACE = new Set(['b3', 'baggage', 'uber-trace-id', 'x-amzn-trace-id', 'x-cloud-trace-context']);
const TRACE_PREFIXES = ['x-b3-', 'x-datadog-', 'uberctx-'];

/** What an answer tells of the upstream's insides, or tells a proxy in front of us to do. */
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
  // Ours is there already; a client that quotes one must quote the one that our log knows.
  'x-request-id',
  'x-runtime',
  'x-sendfile',
];
const INTERNAL_PREFIXES = ['x-debug-', 'x-internal-', 'x-reproxy-'];

const REQUEST_DROPPED = new Set([...HOP_BY_HOP, ...IDENTITY, ...FORWARDING, ...OURS_TO_SET]);
const RESPONSE_DROPPED = new Set([...HOP_BY_HOP, ...IDENTITY, ...INTERNAL]);

function isIdentity(name: string): boolean {
  return IDENTITY_PREFIXES.some((prefix) => name.startsWith(prefix)) || name.endsWith('-jwt-assertion');
}

/** What becomes of a request field, by its name as received. */
export const requestField = remembered((name): RequestField => {
  const folded = name.toLowerCase().replace(/[^a-z0-9]/g, '-');
  if (folded === 'cookie' || folded === 'authorization' || folded === 'connection') return folded;
  // nginx drops such names too: to most frameworks they are another spelling of the dashed name.
  if (/[_.]/.test(name) || REQUEST_DROPPED.has(folded) || folded.startsWith('proxy-') || isIdentity(folded))
    return 'drop';
  if (TRACE.has(folded) || TRACE_PREFIXES.some((prefix) => folded.startsWith(prefix))) return 'trace';
  return FORWARDING_PREFIXES.some((prefix) => folded.startsWith(prefix)) ? 'drop' : 'pass';
});

const RESPONSE_SPECIAL: Readonly<Record<string, ResponseField>> = {
  connection: 'connection',
  location: 'location',
  'content-location': 'location',
  'set-cookie': 'set-cookie',
  'www-authenticate': 'challenge',
  'cache-control': 'cache',
  'content-length': 'length',
};

/** What becomes of a response field, by its name as received. */
export const responseField = remembered((name): ResponseField => {
  const lower = name.toLowerCase();
  if (Object.hasOwn(RESPONSE_SPECIAL, lower)) return RESPONSE_SPECIAL[lower] ?? 'pass';
  if (lower.startsWith('access-control-')) return 'cors';
  const folded = lower.replace(/[^a-z0-9]/g, '-');
  if (RESPONSE_DROPPED.has(folded) || folded.startsWith('proxy-') || isIdentity(folded)) return 'drop';
  // X-Accel-Buffering is for a proxy before us; the others of its family would make that proxy serve internal files.
  if (folded.startsWith('x-accel-')) return folded === 'x-accel-buffering' ? 'pass' : 'drop';
  return INTERNAL_PREFIXES.some((prefix) => folded.startsWith(prefix)) ? 'drop' : 'pass';
});

/** Clients use few names, so each is judged once; the bound keeps a client that invents names from filling memory. */
function remembered<T>(judge: (name: string) => T): (name: string) => T {
  const known = new Map<string, T>();
  return (name) => {
    const verdict = known.get(name) ?? judge(name);
    if (known.size < 512) known.set(name, verdict);
    return verdict;
  };
}
