/**
 * Values that no operator needs to change, each with its reason. The schema adds them to the parsed settings, so that
 * code finds them next to the keys. Durations are in seconds and sizes in bytes. docs/limits.md lists them.
 */

export const LISTEN = {
  /** A client that reads nothing of its response for a minute is gone or wants to hold the connection. */
  stall: 60,
  /** No client needs longer for one packet of header fields. */
  headTimeout: 15,
  /** Bytes a second. The slowest mobile network is far above it; slower senders only hold a connection. */
  uploadRate: 256,
};

/** Of `listen.maxConnections`, how much one address may have: five addresses together cannot shut out the others. */
export const SHARE_OF_ONE_ADDRESS = 1 / 5;

export const UPSTREAM = {
  /** An upstream is near: a connection that takes longer will not come about. */
  connectTimeout: 2,
  /** An event stream that is silent for an hour is most likely broken, and its client reconnects. */
  streamTimeout: 3600,
  /** A WebSocket on which neither end sends for an hour. */
  tunnelTimeout: 3600,
  /** As many as `listen.maxConnections` lets in by default. */
  maxStreams: 10_000,
  /**
   * The client for an http upstream: our own, or undici if the environment says so (`COURSEGATE_HTTP_CLIENT`). An https
   * upstream always has undici.
   */
  client: 'http1' as HttpClientName,
};

export type HttpClientName = 'http1' | 'undici';

/** How long an open breaker rests. Longer delays the recovery; shorter disturbs an upstream that restarts. */
export const BREAKER_COOLDOWN = 5;

export const RECHECK = {
  /** An app waits for its refresh meanwhile. */
  timeout: 3,
  /** What HTTP has for "no such record" (RFC 9110 sections 15.5.5 and 15.5.11). Others are about the call itself. */
  gone: [404, 410],
};

/** Time limit for the keys of a single sign-on proxy: as for those of an identity provider. */
export const JWKS_TIMEOUT = 5;

/** Asymmetric algorithms only: `none` and HMAC are never accepted (RFC 8725 sections 3.1 and 3.2). */
export const SIGNING_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'];

/** Sign-ins to one account from one address: enough to remember a password, too few to guess one. */
export const ACCOUNT_ATTEMPTS = { requests: 10, per: 900 };

/**
 * Wrong credentials are refused at multiples of this, because a backend that checks no password for an unknown login
 * answers sooner. Longer than a backend takes for the slowest common hash and a page before it.
 */
export const REFUSAL_TIME = 1;

/** A sign-in or a refresh is one query, so more connections only wait for the password hash. */
export const DATABASE_CONNECTIONS = 4;

/** How long members wait after a lockout if the backend gives no Retry-After. */
export const LOCKED_OUT_WAIT = 300;

export const ACCOUNT = {
  path: '/account/graphql',
  /** Far above any operation that `cost` allows. */
  bodyLimit: 65_536,
  /** Each upstream has a `timeout`; an operation makes few calls in a row. */
  deadline: 10,
};

/**
 * Bounds on the text of one operation, before its cost is known. `cost` limits what it may ask for. They allow the
 * standard introspection query and the queries of the contract.
 */
export const ACCOUNT_LIMITS = {
  /** graphql-js stops parsing there. The standard introspection query has 163. */
  tokens: 1000,
  depth: 12,
  /** Validation compares fields of the same name pair by pair, which takes about 2 ms for 400 fields. */
  fields: 400,
  aliases: 30,
  rootFields: 10,
  directives: 50,
  /** Largest value of `first`: a screenful. `cost` limits pages within pages. */
  pageSize: 100,
};

export const MCP = {
  /** Part of the name or the User-Agent of clients that expect a challenge in the result of a call. */
  challengeInResult: ['openai-mcp', 'chatgpt'],
  /** Arguments of tools are text that a model wrote. */
  bodyLimit: 1_048_576,
  /** Clients give up on a call after about half a minute. */
  deadline: 20,
  /** Each sign of progress restarts the deadline up to then: clients that reset their own still have a limit. */
  longestCall: 300,
  /** A client repeats a call within minutes, or not at all. */
  idempotencyWindow: 3600,
  /** Of one member within that time: more than a conversation changes. */
  idempotencyKeys: 250,
  /** Characters of one text in a result: about 2,000 tokens, so that one text cannot fill it. */
  longestText: 8000,
  /** Clients cut results off at 25,000 tokens. */
  largestResult: 65_536,
};

/** Authorization codes: as long as a redirect takes. RFC 6749 section 4.1.2 recommends at most ten minutes. */
export const CODE_LIFETIME = 60;

/** How long a registered app is kept if no member connects it: a day covers one that is set up in the evening. */
export const UNUSED_APP_LIFETIME = 86_400;

export const EVENTS = {
  /** A weekend in which nobody repairs the backend. */
  maxAge: 259_200,
  /** About 10 MB in the store. */
  maxPending: 10_000,
};

/** Longest path and query. Browsers and proxies allow about as much. */
export const LONGEST_URL = 8192;

/** How long requests, event streams and WebSockets may continue under the configuration that was replaced. */
export const RELOAD_GRACE = 3600;
