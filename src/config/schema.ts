import { z } from 'zod';
import { trustedProxyProblem } from '../http/trusted-proxies.ts';
import { isForbiddenScheme } from '../oauth/forbidden-scheme.ts';
import { isScopeToken } from '../oauth/scope.ts';
import { account } from './account.ts';
import { admin } from './admin.ts';
import { enforcement } from './enforcement.ts';
import { events } from './events.ts';
import { limits, routeLimits } from './limits.ts';
import { login } from './login.ts';
import { mcp } from './mcp.ts';
import { name } from './name.ts';
import { pages, translatable } from './pages.ts';
import { redisSettings } from './redis-settings.ts';
import { reload } from './reload.ts';
import { secretReference } from './secret-reference.ts';
import { duration, size } from './units.ts';
import { upstreamApi } from './upstream-api.ts';
import { upstreamCredential } from './upstream-credential.ts';
import { upstreamHeaders } from './upstream-headers.ts';

/** One exact string without a path or trailing slash: it is the issuer, the audience and the base of every URL. */
const origin = z
  .string()
  .refine(
    (text) => URL.canParse(text) && new URL(text).origin === text,
    'must be an origin such as https://school.example',
  )
  .refine((text) => !URL.canParse(text) || new URL(text).protocol === 'https:' || isLoopback(new URL(text).hostname), {
    message: 'must be https, except on localhost',
  });

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '127.0.0.1' || host === '[::1]';
}

const httpUrl = z
  .string()
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), 'must be an http or https URL')
  .refine((text) => !/[?#]/.test(text), 'must have neither query nor fragment')
  .refine((text) => !/^[^/]*\/\/[^/]*@/.test(text), 'must not contain a user name or password');

const trustedProxy = z.string().superRefine((entry, context) => {
  const problem = trustedProxyProblem(entry);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});

const listen = z.strictObject({
  host: z
    .string()
    .default('127.0.0.1')
    .meta({ description: 'Address to listen on: 0.0.0.0 for every IPv4 address, :: for every address.' }),
  port: z.int().min(0).max(65_535).default(8080).meta({ description: 'Public port. 0 picks a free one.' }),
  reusePort: z.boolean().default(false).meta({
    description:
      'Lets several gates on this machine share the port; the kernel distributes connections among them (docs/scaling.md). Requires a redis store, and a different admin port for each gate.',
  }),
  stall: duration.prefault('60s').meta({
    description: 'Drops a client that reads nothing of its response for this long, to within 5s.',
  }),
  headTimeout: duration.prefault('15s').meta({
    description:
      'How long a client may take to send the request head, counted from its first byte or from the connection; then 408. Accurate to within a third.',
  }),
  maxConnections: z.int().min(1).default(10_000).meta({
    description:
      'Client connections open at the same time, including idle ones. Further ones get 503 and are closed. A proxied connection uses two file descriptors.',
  }),
  maxConnectionsPerAddress: z.int().min(1).default(2000).meta({
    description:
      'The same for one client address (for IPv6: one /64). Trusted proxies are exempt, since they connect for many clients.',
  }),
  uploadRate: size.prefault('256B').meta({
    description:
      'Drops a client that sends its request body slower than this per second, measured over 10s (or `stall`, if shorter). 0B turns this off.',
  }),
  trustedProxies: z.array(trustedProxy).default([]).meta({
    description:
      'Proxies in front of the gate that are trusted to set the client address, request ID and trace context: addresses, networks such as 10.0.0.0/8, `loopback` or `private`. From anyone else these fields are removed.',
  }),
  forwardingField: z.enum(['X-Forwarded-For', 'Forwarded']).default('X-Forwarded-For').meta({
    description: 'Header in which trusted proxies name the client. The other one is never read.',
  }),
  admin: z
    .strictObject({
      host: z.string().default('127.0.0.1').meta({
        description: 'Its address. Use a non-loopback address only on a network that outsiders cannot reach.',
      }),
      port: z.int().min(0).max(65_535).default(9090).meta({ description: 'Its port. 0 picks a free one.' }),
    })
    .prefault({})
    .meta({ description: 'The admin listener: health, metrics and commands.' }),
  probes: z
    .strictObject({
      host: z.string().default('127.0.0.1').meta({ description: 'Its address: 0.0.0.0 for every IPv4 address.' }),
      port: z.int().min(0).max(65_535).default(9091).meta({ description: 'Its port. 0 picks a free one.' }),
    })
    .optional()
    .meta({
      description:
        'A separate listener that serves only /livez, /readyz and /metrics, so that a kubelet or Prometheus on another machine can reach them while the admin listener stays on loopback. Off if omitted.',
    }),
  drain: z
    .strictObject({
      notice: duration.prefault('0s').meta({
        description:
          'After SIGTERM, how long the gate keeps accepting requests while /readyz returns 503. Set it to the time your load balancer needs to notice.',
      }),
      grace: duration.prefault('10s').meta({
        description:
          'After `notice`, how long requests in flight may take to finish before their connections are closed.',
      }),
    })
    .prefault({})
    .meta({ description: 'How the gate shuts down.' }),
});

const store = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('sqlite'),
    path: z
      .string()
      .min(1)
      .meta({ description: 'The database file, relative to this file. It must be on a local disk.' }),
  }),
  redisSettings,
  z.strictObject({ kind: z.literal('memory') }),
]);

const upstream = z.strictObject({
  url: httpUrl.meta({ description: 'Base URL. A path in it is prepended to the path of every request.' }),
  connectTimeout: duration
    .prefault('2s')
    .meta({ description: 'Time limit for DNS, connection and TLS handshake together.' }),
  timeout: duration
    .prefault('10s')
    .meta({ description: 'Time limit from the end of a request to the head of its response.' }),
  bodyTimeout: duration.optional().meta({
    description: 'Time limit between two chunks of a response. Defaults to `timeout`.',
  }),
  streamTimeout: duration.prefault('1h').meta({ description: 'The same for event streams.' }),
  tunnelTimeout: duration.prefault('1h').meta({
    description: 'Closes a WebSocket on which neither end has sent anything for this long.',
  }),
  maxRequests: z.int().min(1).default(1024).meta({
    description: 'Requests in progress at the same time, each on its own connection. Further ones get 503.',
  }),
  maxStreams: z.int().min(0).default(10_000).meta({
    description:
      'Event streams open at the same time, counted separately so that they never block requests. Further ones get 503.',
  }),
  breaker: z
    .strictObject({
      failures: z.int().min(0).default(5).meta({
        description: 'Consecutive requests without a response that open the breaker. 0 turns it off.',
      }),
      cooldown: duration.prefault('5s').meta({
        description: 'How long every request gets 503 before one is let through to try again.',
      }),
      statuses: z.array(z.int().min(400).max(599)).default([]).meta({
        description: 'Response statuses that also count as failures, such as 503.',
      }),
    })
    .prefault({})
    .meta({ description: 'Circuit breaker: stops sending requests for a while when the upstream does not respond.' }),
  identity: z
    .array(z.enum(['headers', 'assertion']))
    .default(['headers', 'assertion'])
    .meta({
      description:
        'How the upstream learns who the member is: `headers` (X-Member-Id …), `assertion` (a signed JWT in X-Coursegate-Assertion), both, or [] for neither.',
    }),
  credential: upstreamCredential.optional().meta({
    description:
      'For a backend that cannot be changed to read `identity`: a credential it already accepts. One of the member’s session, a token for the member, or a key.',
  }),
  openapi: upstreamApi.optional().meta({
    description:
      'The upstream’s own OpenAPI document (3.0 or 3.1). The operations that routes expose are copied from it into /openapi.json.',
  }),
  ...upstreamHeaders,
});

const ROUTE = /^([A-Z]+(\|[A-Z]+)*|\*) (\/\S*)$/;

/** Refuses days such as 2026-02-30, which Date.parse silently turns into another day. */
const isDay = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString().startsWith(text);

const day = z.string().refine(isDay, 'must be a day such as 2026-12-31');

const deprecated = z
  .strictObject({
    since: day.meta({ description: 'The day from which new clients should not use it, in UTC, such as 2026-01-01.' }),
    sunset: day
      .optional()
      .meta({ description: 'The day on which it may stop working. You remove the route yourself.' }),
    link: httpUrl
      .refine((text) => /^[\x21-\x7E]+$/.test(text) && !/[<>"]/.test(text), 'must be percent-encoded')
      .optional()
      .meta({ description: 'Page that explains what to use instead.' }),
  })
  .refine(({ since, sunset }) => sunset === undefined || since <= sunset, {
    message: 'must not be before since',
    path: ['sunset'],
  });

const route = z.strictObject({
  match: z.string().regex(ROUTE, 'must be METHOD[|METHOD] /path, such as "GET /api/v1/courses/**"').meta({
    description:
      'Methods and a path. `*` matches one path segment, a final `**` matches the rest, and `{member.id}` matches only the ID of the member the token belongs to.',
  }),
  upstream: name.meta({ description: 'The upstream that handles it: a name in `upstreams`.' }),
  scopes: z
    .array(z.string())
    .default([])
    .meta({ description: 'Scopes the token must have, all of them. With [], any member’s token will do.' }),
  anonymous: z.enum(['refuse', 'serve']).optional().meta({
    description:
      'What happens to requests without a token: `refuse` (401) or `serve`. Defaults to the top-level `anonymous`.',
  }),
  query: z.record(z.string().min(1), z.string()).optional().meta({
    description:
      'Query parameters set from the member the token belongs to: { user_id: "{member.id}" }. Whatever the client sends under these names is removed, from the body too; a body must then be a JSON object of at most 1MiB.',
  }),
  body: z.record(z.string().min(1), z.string()).optional().meta({
    description:
      'Top-level properties of the JSON body set from the member the token belongs to: { user_id: "{member.id}" }. Requests must then have a JSON object of at most 1MiB as their body. Whatever the client sends under these names, in the body or the query, is removed. Nested objects are not inspected.',
  }),
  rewrite: z
    .string()
    .regex(/^\/[^\s?#\\;]*$/, 'must be a path such as /internal/v2/courses/**, without ?, #, \\ or ;')
    .optional()
    .meta({
      description:
        'Path at the upstream, with the same wildcards as `match` in the same order; `{member.id}` is the ID of the member the token belongs to. Defaults to the path of the request.',
    }),
  deprecated: deprecated.optional().meta({
    description:
      'Announces in every response, and in /openapi.json, that the route will be removed: Deprecation (RFC 9745) and Sunset (RFC 8594).',
  }),
  ...routeLimits,
});

const scope = z.strictObject({
  title: translatable.meta({ description: 'What the member reads on the consent page: a sentence.' }),
  kind: z
    .enum(['identity', 'read', 'write'])
    .meta({ description: 'The group it is listed under on the consent page.' }),
});

/** Well-known apps that use a scheme without a dot, against the advice of RFC 8252 section 7.1. */
const PRIVATE_USE_SCHEMES = [
  'cursor',
  'vscode',
  'vscode-insiders',
  'vscodium',
  'windsurf',
  'zed',
  'jetbrains',
  'claude',
  'raycast',
  'kiro',
  'goose',
  'warp',
  'lmstudio',
];

const domain = z
  .string()
  .regex(
    /^(\*\.)?([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]*[a-z0-9])?$/,
    'must be a domain in lower case, such as claude.ai, or *.example.com for its subdomains',
  );

const scheme = z
  .string()
  .regex(/^[a-z][a-z0-9+-]*$/, 'must be a URI scheme in lower case, such as cursor')
  .refine(
    (text) => !isForbiddenScheme(text) && text !== 'http' && text !== 'https',
    'must not be a scheme that browsers or the operating system handle',
  );

const redirects = z.strictObject({
  schemes: z.array(scheme).default(PRIVATE_USE_SCHEMES).meta({
    description:
      'Private-use schemes without a dot that redirect URIs may use. Schemes with a dot (com.example.app) need no entry.',
  }),
  allow: z
    .array(domain)
    .default([])
    .meta({ description: 'Domains that https redirect URIs are limited to. Empty allows every domain.' }),
  deny: z.array(domain).default([]).meta({ description: 'Domains that are refused, even if `allow` lists them.' }),
});

const registration = z.strictObject({
  enabled: z.boolean().default(true).meta({ description: 'Whether there is a registration endpoint.' }),
  initialAccessToken: secretReference.optional().meta({
    description:
      'Token that apps must present to register (RFC 7591 section 3). If omitted, anyone can register an app.',
  }),
  perAddressPerMinute: z.int().min(1).default(120).meta({
    description:
      'Registrations accepted from one client address per minute. Behind a proxy, set `listen.trustedProxies`.',
  }),
  perDay: z
    .int()
    .min(1)
    .default(100_000)
    .meta({ description: 'Registrations accepted from all addresses together per day.' }),
  unusedLifetime: duration
    .prefault('24h')
    .meta({ description: 'How long a registered app is kept if no member connects it.' }),
});

const clients = z.strictObject({
  resourceServers: z
    .record(name, z.strictObject({ secret: secretReference }))
    .default({})
    .meta({
      description:
        'Services that may introspect every token: their client_id and secret. They authenticate with client_secret_post.',
    }),
  redirects: redirects.prefault({}).meta({
    description:
      'Which redirect URIs apps may use, both registered apps and those with a client ID metadata document. Changes also apply to apps that are already registered.',
  }),
  registration: registration.prefault({}).meta({ description: 'Dynamic client registration (RFC 7591).' }),
  documents: z
    .strictObject({
      enabled: z
        .boolean()
        .default(true)
        .meta({ description: 'Whether such apps are accepted. If not, they must register.' }),
      allow: z
        .array(domain)
        .default([])
        .meta({ description: 'Domains of client IDs that are accepted. Empty allows every domain.' }),
      deny: z.array(domain).default([]).meta({ description: 'Domains that are refused, even if `allow` lists them.' }),
    })
    .prefault({})
    .meta({ description: 'Apps whose client_id is the https URL of their client ID metadata document.' }),
});

const log = z.strictObject({
  level: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info').meta({
    description: 'Lowest level written to stderr. Audit entries are written at every level except `silent`.',
  }),
  access: z
    .boolean()
    .default(true)
    .meta({ description: 'Whether each request is logged to stdout, as one JSON object per line.' }),
  member: z.enum(['id', 'hash', 'none']).default('id').meta({
    description: 'How the access log identifies members: by ID, by a stable keyed hash, or not at all.',
  }),
});

/**
 * The configuration: the operator's file with the profile and the environment merged in. Descriptions are what operators
 * read: `npm run schema` copies them into schema/config.schema.json and config/README.md.
 */
export const configSchema = z.strictObject({
  $schema: z.string().optional().meta({ description: 'Path or URL of schema/config.schema.json, for editors.' }),
  version: z.literal(1).meta({ description: 'Version of the file format.' }),
  origin: origin.meta({
    description:
      'Public address that members and apps use, such as https://school.example. It is the issuer, the audience and the base of every URL. It is part of every token, so avoid changing it.',
  }),
  name: z
    .string()
    .min(1)
    .max(64)
    .default('This school')
    .meta({ description: 'Name of the school, as members know it.' }),
  listen: listen.prefault({}).meta({ description: 'Where the gate listens, and limits on connections.' }),
  admin: admin.prefault({}).meta({
    description: 'Who may run commands on the admin listener: revoke, suspend and look up. If omitted, no one can.',
  }),
  store: store.meta({
    description:
      'Where grants, tokens and apps are stored: `sqlite` (one file, one machine), `redis` (for several replicas) or `memory` (lost when the process ends).',
  }),
  secret: secretReference.optional().meta({
    description:
      'Key material (at least 32 bytes) that encrypts the store and signs cookies. If omitted, an embedded store generates its own next to its file.',
  }),
  furtherSecrets: z.array(secretReference).default([]).meta({
    description:
      'Additional secrets that are accepted for decryption and verification only: the old one after a rotation and, with several replicas, the new one before it (docs/operator.md).',
  }),
  login: login.meta({ description: 'How members sign in with their existing login (docs/login).' }),
  upstreams: z.record(name, upstream).meta({ description: 'Services behind the gate, by name.' }),
  scopes: z.record(z.string().refine(isScopeToken, 'must be one scope token (RFC 6749 section 3.3)'), scope),
  resourceIndicator: z.enum(['required', 'optional']).meta({
    description: 'Whether clients must send the `resource` parameter (RFC 8707). Set by the profile.',
  }),
  anonymous: z.enum(['refuse', 'serve']).meta({
    description:
      'What a protected route does with a request without a token: `refuse` (401) or `serve` it as anonymous. Set by the profile.',
  }),
  enforcement: enforcement.prefault({}).meta({ description: 'Whether routes are enforced or only observed.' }),
  routes: z
    .array(route, 'must be a list of routes. For observe mode, use `enforcement: { mode: observe }`')
    .default([])
    .meta({
      description: 'What apps may access, and with which scopes. The first route that matches a request applies.',
    }),
  resources: z
    .array(
      z.strictObject({
        path: z
          .string()
          .regex(/^(\/[A-Za-z0-9._~-]+)+$/, 'must be a path such as /api/v1')
          .meta({ description: 'Path of the resource. Its identifier is the origin plus this path.' }),
        name: z.string().min(1).optional().meta({ description: 'Name shown to apps.' }),
        scopes: z.array(z.string()).min(1).meta({ description: 'Scopes that a token for it may have.' }),
      }),
    )
    .default([])
    .meta({
      description: 'Paths that are separate protected resources: a token bound to one is refused everywhere else.',
    }),
  site: z
    .strictObject({ upstream: name.meta({ description: 'A name in `upstreams`.' }) })
    .optional()
    .meta({
      description:
        'The existing site, which gets every request that is neither for a route nor for one of coursegate’s own endpoints. If omitted, such requests get 404.',
    }),
  account: account.optional().meta({ description: 'The Account API. Off if omitted.' }),
  mcp: mcp
    .optional()
    .meta({ description: 'Tools for agents (Model Context Protocol), at /mcp and /mcp/member. Off if omitted.' }),
  tokens: z
    .strictObject({
      access: duration.prefault('10m').meta({ description: 'Lifetime of an access token (expires_in).' }),
      refresh: duration
        .prefault('30d')
        .meta({ description: 'Lifetime of a refresh token. Each use issues a new one.' }),
      refreshAbsolute: duration
        .prefault('365d')
        .meta({ description: 'How long an app stays connected, however often it refreshes.' }),
      code: duration.prefault('60s').meta({ description: 'Lifetime of an authorization code.' }),
      replayWindow: duration.pipe(z.number().max(60, 'must be at most 60s')).prefault('10s').meta({
        description:
          'Replay window: how long after a code or refresh token was used the same request gets the same response again. 0s turns this off.',
      }),
    })
    .prefault({})
    .meta({ description: 'Lifetimes of tokens.' }),
  keys: z
    .strictObject({
      rotate: duration
        .prefault('90d')
        .meta({ description: 'How long a key is used for signing. The next key is published during that time.' }),
    })
    .prefault({})
    .meta({ description: 'Keys that sign ID tokens and assertions.' }),
  clients: clients.prefault({}).meta({ description: 'Which apps may ask members for access.' }),
  events: events.optional().meta({
    description:
      'Signed webhooks that notify the backend about consents, grants, apps and refusals (docs/events.md). Off if omitted.',
  }),
  limits: limits.prefault({}).meta({ description: 'Limits on single requests and on callers.' }),
  pages: pages.prefault({}).meta({ description: 'Appearance of coursegate’s own pages: sign-in, consent and errors.' }),
  reload: reload.prefault({}).meta({ description: 'How configuration changes are applied without a restart.' }),
  log: log.prefault({}).meta({ description: 'Logging: the event log goes to stderr, the access log to stdout.' }),
});

/** The parsed configuration: durations in seconds, sizes in bytes, defaults filled in. */
export type Config = z.output<typeof configSchema>;
export type UpstreamConfig = Config['upstreams'][string];
export type RouteConfig = Config['routes'][number];
export type McpConfig = NonNullable<Config['mcp']>;
export type ToolConfig = McpConfig['tools'][number];
export type ScopeConfig = Config['scopes'][string];

/** Splits a route's `match` into its methods (undefined for `*`, every method) and its path pattern. */
export function parseMatch(match: string): { methods: readonly string[] | undefined; pattern: string } {
  const space = match.indexOf(' ');
  const methods = match.slice(0, space);
  return { methods: methods === '*' ? undefined : methods.split('|'), pattern: match.slice(space + 1) };
}
