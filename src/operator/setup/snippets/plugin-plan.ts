import { randomBytes } from 'node:crypto';
import type { LoadedConfig } from '../../../config/load.ts';
import { type Config, parseMatch, type UpstreamConfig } from '../../../config/schema.ts';
import { gatewayFingerprint } from '../../../decisions/fingerprint.ts';
import { type FailureCode, GatewayError, renderFailure } from '../../../errors.ts';
import { API_FIELDS } from '../../../http/header-names.ts';
import { socketHost } from '../../../http/host.ts';
import { IDENTITY_FIELDS } from '../../../http/identity-fields.ts';
import { publicPaths } from '../../../request/public-paths.ts';
import { ownCallPolicy } from '../../../upstream/header-policy.ts';
import { ownTargets, targetsOf } from './targets.ts';

/** A file for a gateway. The first line of each is that of `firstLine`. */
export interface SnippetFile {
  /** Without a folder, such as `coursegate.conf`. */
  readonly name: string;
  readonly text: string;
}

/** What snippets are made from. */
export type SnippetSource = Pick<LoadedConfig, 'config' | 'secrets' | 'asserts' | 'school'>;

/**
 * What the names end with in the files of one school of many, so that a gateway can have those of several side by side. A
 * school's name has no underscore, so no two names are the same. Nothing for a configuration of one school.
 */
export function endOfNames({ school }: Pick<LoadedConfig, 'school'>): string {
  return school === undefined ? '' : `_${school}`;
}

/** The name of a file with that end: `coursegate_harbour.conf`. */
export function fileNamed(name: string, of: string): string {
  return name.replace(/(?:\.[a-z]+)?$/, `${of}$&`);
}

/** What a gateway has to know of a configuration to forward requests itself: plugin mode. */
export type PluginPlan = ReturnType<typeof pluginPlan>;

export type ProtectedPath = PluginPlan['protectedPaths'][number];

export type PluginUpstream = ReturnType<typeof pluginUpstream>;

/** Time limits for a decision, in seconds. Neither is ever waited for unless the gate is failing. */
export const DECISION_LIMITS = { connect: 1, answer: 5 } as const;

/** The fields that name the member, in lower case. */
export const IDENTITY_NAMES: readonly string[] = IDENTITY_FIELDS.map((name) => name.toLowerCase());

/**
 * Concerns a whole origin, or is set by us, or gives a gateway orders. Other fields of CORS have a meaning only in
 * responses to preflights, which the gate answers.
 */
export const HIDDEN_RESPONSE_FIELDS = [
  ...['set-cookie', 'www-authenticate', 'clear-site-data', 'access-control-allow-origin'],
  ...['access-control-allow-credentials', 'access-control-expose-headers'],
  ...IDENTITY_NAMES,
  ...['x-request-id', 'ratelimit-policy', 'ratelimit'],
  // Orders for a cache, which override Cache-Control (RFC 9213).
  ...['surrogate-control', 'cdn-cache-control', 'cloudflare-cdn-cache-control'],
];

/** What a member's response gets as Cache-Control: a request with an Authorization field is a member's. */
export const MEMBER_CACHE_CONTROL = 'private, no-store';

/**
 * What the file of a gateway is made from. Throws Error, worded for the operator, if `listen.decisions` is missing, no
 * route is for a gateway, or the secret cannot be written to a file.
 * @param gate host:port of the public listener
 */
export function pluginPlan(loaded: SnippetSource, gate: string, internal = randomBytes(8).toString('hex')) {
  const { config } = loaded;
  const { listen, origin, limits } = config;
  if (listen.decisions === undefined) throw new Error('This needs `listen.decisions`, where the gateway asks.');
  const protectedPaths = protectedPathsOf(config);
  if (protectedPaths.length === 0) throw new Error('No route has `forwardedBy: gateway`.');
  const patterns = new Set(protectedPaths.map(({ pattern }) => pattern));
  const others = config.routes.filter((route) => !patterns.has(parseMatch(route.match).pattern));
  const own = publicPaths({ ...config, routes: others });
  const { host, protocol, port } = new URL(origin);
  const scheme = protocol.slice(0, -1);
  return {
    /** Sent in X-Coursegate-Config, and named in the first line of the file. */
    fingerprint: gatewayFingerprint(loaded),
    of: endOfNames(loaded),
    /** The public origin: its URL, and its host with the port if it is not the default one. */
    origin: { url: origin, host, scheme, port: port || (scheme === 'https' ? '443' : '80') },
    /** host:port at which the gateway reaches the public listener of the gate. */
    gate,
    /** Where the gateway asks. */
    decisions: {
      address: listen.decisions.address,
      /** Sent in X-Coursegate-Secret; letters, digits and `._~+/=-` only, so it needs no quoting. */
      secret: writable(loaded.secrets.get('listen.decisions.secret')),
    },
    /** The patterns of what the gate answers or forwards itself. */
    ownPatterns: own,
    /** Expressions for the targets that the gate answers or forwards itself: see `targets.ts`. */
    own: ownTargets(own),
    /** What the gateway asks about. No two with different upstreams match the same target. */
    protectedPaths,
    /** The upstreams of `protectedPaths`. */
    upstreams: [...new Set(protectedPaths.map(({ upstream }) => upstream))],
    /** The rest of the site; undefined if the configuration does not have it, or has it at a path of its own. */
    site: siteOf(config),
    /**
     * Whether an upstream reads plainly who the member is. It need not be one of `upstreams`: the site's lane may lead
     * to the same backend.
     */
    plainIdentity: Object.values(config.upstreams).some(({ identity }) => identity.includes('headers')),
    /** Not known to clients: for the names of locations that are only for internal requests. */
    internal,
    /** Largest request body that `protectedPaths` accept, none of which has a `bodyLimit`: in bytes; undefined: unlimited. */
    largestBody: Number.isFinite(limits.requestBody) ? limits.requestBody : undefined,
  };
}

function writable(secret: string | undefined): string | undefined {
  if (secret === undefined || /^[A-Za-z0-9._~+/=-]+$/.test(secret)) return secret;
  throw new Error(
    'The secret of `listen.decisions` must have only letters, digits and ._~+/=- (openssl rand -base64 32).',
  );
}

/** The routes that a gateway forwards, each pattern once. */
function protectedPathsOf(config: Config) {
  const routes = config.routes.filter(({ forwardedBy }) => forwardedBy === 'gateway');
  const names = [...new Set(routes.map(({ upstream }) => upstream))];
  const upstreams = names.map((name, at) => pluginUpstream(config, name, at));
  return [...new Map(routes.map(({ match, upstream }) => [parseMatch(match).pattern, upstream]))].map(
    ([pattern, name]) => ({
      /** As configured, such as `/api/courses/**`. */
      pattern,
      /** An expression for its targets: see `targets.ts`. */
      targets: targetsOf(pattern),
      /** Where the gateway sends admitted requests. */
      upstream: upstreams[names.indexOf(name)] as PluginUpstream,
    }),
  );
}

function pluginUpstream({ upstreams, origin }: Config, name: string, index: number) {
  const upstream = upstreams[name] as UpstreamConfig;
  const { protocol, hostname, port, host } = new URL(upstream.url);
  const scheme: 'http' | 'https' = protocol === 'https:' ? 'https' : 'http';
  const number = Number(port) || (scheme === 'https' ? 443 : 80);
  const { host: sentHost, servername } = ownCallPolicy(upstream, origin);
  const { request, response } = upstream.headers;
  const lower = (names: readonly string[]) => names.map((one) => one.toLowerCase());
  const dropped = lower(request.drop);
  const id = name.replace(/[^A-Za-z0-9]/g, '_');
  return {
    /** The name in `upstreams`, in characters that identifiers may have: `school_api`. Unique. */
    id: id === name ? id : `${id}_${index}`,
    scheme,
    /** Without brackets if it is an IPv6 address. */
    hostname: socketHost(hostname),
    port: number,
    /** hostname:port, as it is written in a URL. */
    authority: port === '' ? `${host}:${number}` : host,
    /** The Host field that it gets. */
    host: sentHost,
    /** The name to verify its certificate by; '' if it is an IP address. */
    servername,
    /** For gateways that pass fields by their names: those it gets besides what the gateway sets. Lower case. */
    requestFields: [...new Set([...API_FIELDS, ...lower(request.allow)])].filter((name) => !dropped.includes(name)),
    /** For gateways that can only remove fields: those that the operator has removed. Lower case. */
    droppedFields: dropped,
    /** The response fields that clients do not get. */
    hiddenFields: [...new Set([...HIDDEN_RESPONSE_FIELDS, ...lower(response.drop)])],
    /** Seconds until the head of its response, and between two chunks of it. */
    timeout: upstream.timeout,
  };
}

function siteOf(config: Config): PluginUpstream | undefined {
  const name = config.site?.upstream;
  const upstream = name === undefined ? undefined : config.upstreams[name];
  if (name === undefined || upstream === undefined || new URL(upstream.url).pathname !== '/') return undefined;
  return pluginUpstream(config, name, 0);
}

/**
 * An unanchored expression for field names in every spelling that a backend may take for one of `names`, which are as
 * in `OWN_IDENTITY`. Use it without regard to case.
 */
export function fieldExpression(names: readonly string[]): string {
  const spelled = names.map((name) =>
    [...name].map((one) => (one === '*' ? '.*' : /[a-z0-9]/i.test(one) ? one : '[^A-Za-z0-9]')).join(''),
  );
  return `(${spelled.join('|')})`;
}

/** The first line of a file, after the sign of a comment. */
export function firstLine(plans: readonly PluginPlan[]): string {
  const { fingerprint = '', origin } = plans[0] ?? {};
  const which =
    plans.length > 1 ? `coursegate: for ${plans.length} schools` : `coursegate ${fingerprint}: for ${origin?.url}`;
  return `${which}, written by \`coursegate snippets\`. Write it again after a change of the configuration.`;
}

/**
 * The body of an answer that the gateway gives itself, like one of the gate's (RFC 9457). `requestId` may be a variable
 * of the gateway; '' if it cannot write it there.
 */
export function problemBody(code: FailureCode, requestId: string): string {
  const { request_id, ...body } = JSON.parse(renderFailure(new GatewayError(code), 'problem', requestId).body);
  return JSON.stringify(requestId === '' ? body : { ...body, request_id });
}
