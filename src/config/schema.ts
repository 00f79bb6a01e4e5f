import { z } from 'zod';
import { trustedProxyProblem } from '../http/trusted-proxies.ts';
import { isForbiddenScheme } from '../oauth/forbidden-scheme.ts';
import { isScopeToken } from '../oauth/scope.ts';
import { account } from './account.ts';
import { admin } from './admin.ts';
import { cluster } from './cluster.ts';
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

/** The origin is issuer, audience and base of every URL at once, so it is one exact string: no path, no final slash. */
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
  .refine((text) => !/^[^/]*\/\/[^/]*@/.test(text), 'must hold no user name or password');

const trustedProxy = z.string().superRefine((entry, context) => {
  const problem = trustedProxyProblem(entry);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});

const listen = z.strictObject({
  host: z
    .string()
    .default('127.0.0.1')
    .meta({ description: 'The address it listens on; 0.0.0.0 for all of IPv4, :: for all.' }),
  port: z.int().min(0).max(65_535).default(8080).meta({ description: 'The public port; 0: any that is free.' }),
  stall: duration.prefault('60s').meta({
    description: 'A client that takes none of its answer for so long is dropped. To within 5s.',
  }),
  headTimeout: duration.prefault('15s').meta({
    description: 'For the head of a request, from its first byte or the connection; then 408. To within a third.',
  }),
  maxConnections: z.int().min(1).default(10_000).meta({
    description:
      'Client connections open at once, idle ones counted; more are answered 503 and closed. A connection that is passed on takes two descriptors.',
  }),
  maxConnectionsPerAddress: z.int().min(1).default(2000).meta({
    description:
      'Of these, those of one client address (of IPv6: one /64). The trusted proxies may have any number: they speak for many.',
  }),
  uploadRate: size.prefault('256B').meta({
    description:
      'A client that sends less of a body than this per second, over 10s (or stall, if shorter), is dropped; 0B: never.',
  }),
  trustedProxies: z.array(trustedProxy).default([]).meta({
    description:
      'Proxies in front whose word on the client address, request id and trace is taken: addresses, networks such as 10.0.0.0/8, loopback, private. From anyone else it is removed.',
  }),
  forwardingField: z.enum(['X-Forwarded-For', 'Forwarded']).default('X-Forwarded-For').meta({
    description: 'The field in which the trusted proxies name the client. The other one is never read.',
  }),
  admin: z
    .strictObject({
      host: z.string().default('127.0.0.1').meta({
        description: 'Its address. Beyond this machine only where the network keeps strangers out.',
      }),
      port: z.int().min(0).max(65_535).default(9090).meta({ description: 'Its port; 0: any that is free.' }),
    })
    .prefault({})
    .meta({ description: 'The listener for health, metrics and commands.' }),
  probes: z
    .strictObject({
      host: z.string().default('127.0.0.1').meta({ description: 'Its address; 0.0.0.0 for every one.' }),
      port: z.int().min(0).max(65_535).default(9091).meta({ description: 'Its port; 0: any that is free.' }),
    })
    .optional()
    .meta({
      description:
        'Another listener with /livez, /readyz and /metrics, and nothing else: for a kubelet or a Prometheus on another machine, so that the admin listener can stay on loopback. Left out, there is none.',
    }),
  drain: z
    .strictObject({
      notice: duration.prefault('0s').meta({
        description:
          'After SIGTERM: how long requests are still taken while /readyz says 503. As long as your balancer needs to see that.',
      }),
      grace: duration.prefault('10s').meta({
        description: 'After that: how long requests in flight may take to end. What is left then is cut.',
      }),
    })
    .prefault({})
    .meta({ description: 'How the gate stops.' }),
});

const store = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('sqlite'),
    path: z
      .string()
      .min(1)
      .meta({ description: 'The file, as a path beside this file. Its folder must be on a disk of this machine.' }),
  }),
  redisSettings,
  z.strictObject({ kind: z.literal('memory') }),
]);

const upstream = z.strictObject({
  url: httpUrl.meta({ description: 'Where it listens; a path in it comes before the path of every request.' }),
  connectTimeout: duration.prefault('2s').meta({ description: 'For the name, the connection and TLS together.' }),
  timeout: duration.prefault('10s').meta({ description: 'From the end of a request to the head of its answer.' }),
  bodyTimeout: duration.optional().meta({
    description: 'Between two pieces of an answer. Left out, as long as timeout.',
  }),
  streamTimeout: duration.prefault('1h').meta({ description: 'Between two pieces of an event stream.' }),
  tunnelTimeout: duration.prefault('1h').meta({
    description: 'A WebSocket on which nothing comes from either end for so long is closed.',
  }),
  maxRequests: z.int().min(1).default(1024).meta({
    description: 'Requests under way at once, each on a connection of its own; more are answered 503.',
  }),
  maxStreams: z.int().min(0).default(10_000).meta({
    description: 'Event streams open at once, counted apart so that they keep no request out; more are answered 503.',
  }),
  breaker: z
    .strictObject({
      failures: z.int().min(0).default(5).meta({
        description: 'After so many requests in a row without an answer it is left alone; 0: never.',
      }),
      cooldown: duration.prefault('5s').meta({
        description: 'For how long everything is answered 503 before one request tries again.',
      }),
      statuses: z.array(z.int().min(400).max(599)).default([]).meta({
        description: 'Answers that count as failures too, such as 503.',
      }),
    })
    .prefault({})
    .meta({ description: 'When it is left alone for a while, because it does not answer.' }),
  identity: z
    .array(z.enum(['headers', 'assertion']))
    .default(['headers', 'assertion'])
    .meta({
      description:
        'How it is told who asks: headers (X-Member-Id …), assertion (a signed JWT in X-Coursegate-Assertion), both or [].',
    }),
  credential: upstreamCredential.optional().meta({
    description:
      'For a backend that cannot be taught `identity`: what it knows already. The session of the member, a token of theirs, or a key.',
  }),
  openapi: upstreamApi.optional().meta({
    description: 'Its own OpenAPI document (3.0 or 3.1). What routes lead to is described in ours in its words.',
  }),
  ...upstreamHeaders,
});

const ROUTE = /^([A-Z]+(\|[A-Z]+)*|\*) (\/\S*)$/;

/** A date that does not exist would silently be another. */
const isDay = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString().startsWith(text);

const day = z.string().refine(isDay, 'must be a day such as 2026-12-31');

const deprecated = z
  .strictObject({
    since: day.meta({ description: 'From when on new clients should not use it: a day such as 2026-01-01, in UTC.' }),
    sunset: day.optional().meta({ description: 'When it may stop working. You take it out yourself.' }),
    link: httpUrl
      .refine((text) => /^[\x21-\x7E]+$/.test(text) && !/[<>"]/.test(text), 'must be percent-encoded')
      .optional()
      .meta({ description: 'A page that says what to use instead.' }),
  })
  .refine(({ since, sunset }) => sunset === undefined || since <= sunset, {
    message: 'must not be before since',
    path: ['sunset'],
  });

const route = z.strictObject({
  match: z.string().regex(ROUTE, 'must be METHOD[|METHOD] /path, such as "GET /api/v1/courses/**"').meta({
    description:
      'Methods and a path. `*` is one part of it, a final `**` the rest, `{member.id}` the id of the member who asks, and of nobody else.',
  }),
  upstream: name.meta({ description: 'Where it leads: a name in upstreams.' }),
  scopes: z
    .array(z.string())
    .default([])
    .meta({ description: 'What a token must have, all of it; []: any token of a member.' }),
  anonymous: z.enum(['refuse', 'serve']).optional().meta({
    description: 'For requests without a token: refuse with 401, or serve. Left out, as `anonymous` says for all.',
  }),
  query: z.record(z.string().min(1), z.string()).optional().meta({
    description:
      'Query parameters that are set from the member who asks: { user_id: "{member.id}" }. What a client sends under these names is removed, from a body too, which may then only be a JSON object of at most 1MiB.',
  }),
  body: z.record(z.string().min(1), z.string()).optional().meta({
    description:
      'Members of a JSON body that are set from the member who asks: { user_id: "{member.id}" }. Requests must then have a JSON object of at most 1MiB; what a client sends under these names, there and in the query, is removed. What is nested deeper is not looked at.',
  }),
  rewrite: z
    .string()
    .regex(/^\/[^\s?#\\;]*$/, 'must be a path such as /internal/v2/courses/**, without ?, #, \\ or ;')
    .optional()
    .meta({
      description:
        'The path at the upstream, with the same wildcards as in match, in their order; `{member.id}` is the id of the member who asks. Left out, the same path.',
    }),
  deprecated: deprecated.optional().meta({
    description:
      'Tells clients in every answer that the route is to go: Deprecation (RFC 9745), Sunset (RFC 8594), and in /openapi.json.',
  }),
  ...routeLimits,
});

const scope = z.strictObject({
  title: translatable.meta({ description: 'What the member reads on the consent page, as a sentence.' }),
  kind: z.enum(['identity', 'read', 'write']).meta({ description: 'The group it stands in on the consent page.' }),
});

/** Apps that are known to be reached by a scheme without a dot, which RFC 8252 §7.1 asks them not to be. */
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
    'must be a domain in lower case, such as claude.ai, or *.example.com for what is under it',
  );

const scheme = z
  .string()
  .regex(/^[a-z][a-z0-9+-]*$/, 'must be a URI scheme in lower case, such as cursor')
  .refine(
    (text) => !isForbiddenScheme(text) && text !== 'http' && text !== 'https',
    'must not be a scheme of the system',
  );

const redirects = z.strictObject({
  schemes: z
    .array(scheme)
    .default(PRIVATE_USE_SCHEMES)
    .meta({ description: 'Schemes of well-known apps. Those with a dot (com.example.app) need no entry.' }),
  allow: z
    .array(domain)
    .default([])
    .meta({ description: 'The only domains of https redirect URIs; empty: every domain.' }),
  deny: z.array(domain).default([]).meta({ description: 'Domains that are not taken, whatever allow says.' }),
});

const registration = z.strictObject({
  enabled: z.boolean().default(true).meta({ description: 'Off, there is no registration endpoint.' }),
  initialAccessToken: secretReference.optional().meta({
    description: 'A token (RFC 7591 §3) that apps must bring to register. Left out, anyone can register one.',
  }),
  perAddressPerMinute: z.int().min(1).default(120).meta({
    description: 'Registrations taken of one client address; behind a proxy, name it in listen.trustedProxies.',
  }),
  perDay: z.int().min(1).default(100_000).meta({ description: 'Registrations taken of all addresses together.' }),
  unusedLifetime: duration
    .prefault('24h')
    .meta({ description: 'How long an app is kept that no member has connected yet.' }),
});

const clients = z.strictObject({
  resourceServers: z
    .record(name, z.strictObject({ secret: secretReference }))
    .default({})
    .meta({ description: 'Services that may introspect every token, by client_id, with client_secret_post.' }),
  redirects: redirects.prefault({}).meta({
    description: 'Where apps may have members sent to, whether they register or publish a document. Taken at once.',
  }),
  registration: registration.prefault({}).meta({ description: 'Apps that register themselves (RFC 7591).' }),
  documents: z
    .strictObject({
      enabled: z.boolean().default(true).meta({ description: 'Off, such apps must register.' }),
      allow: z.array(domain).default([]).meta({ description: 'The only domains that are taken; empty: every domain.' }),
      deny: z.array(domain).default([]).meta({ description: 'Domains that are not taken, whatever allow says.' }),
    })
    .prefault({})
    .meta({ description: 'Apps that are known by the https URL of their client ID metadata document.' }),
});

const log = z.strictObject({
  level: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info').meta({
    description: 'The least that is written to stderr. The audit log is written whatever it says, but for silent.',
  }),
  access: z
    .boolean()
    .default(true)
    .meta({ description: 'The access log on stdout: one JSON object a line for each request.' }),
  member: z.enum(['id', 'hash', 'none']).default('id').meta({
    description: 'How the access log names members: by id, by a keyed hash that is always the same, or not at all.',
  }),
});

/** The configuration file: what an operator writes, profile and environment merged in. */
export const configSchema = z.strictObject({
  $schema: z.string().optional().meta({ description: 'For editors: where schema/config.schema.json is.' }),
  version: z.literal(1).meta({ description: 'The form of this file.' }),
  origin: origin.meta({
    description:
      'The address that members and apps use, such as https://school.example: issuer, audience and base of every URL. It is in every token: choose it once.',
  }),
  name: z.string().min(1).max(64).default('This school').meta({ description: 'The school, as members know it.' }),
  listen: listen.prefault({}).meta({ description: 'Where the gate listens, and what a connection may do.' }),
  admin: admin.prefault({}).meta({
    description: 'Who may command on the admin listener: end, suspend and look up. Left out, nobody.',
  }),
  store: store.meta({
    description:
      'Where grants, tokens and apps are kept: sqlite (one file, one machine), redis (for several replicas), memory (gone with the process).',
  }),
  cluster: cluster.optional().meta({
    description:
      'Several processes behind the one port, on one machine and one store, looked after by one more (docs/scaling.md). Left out, one process does all.',
  }),
  secret: secretReference.optional().meta({
    description:
      'Key material (32 bytes or more) that seals the store and signs cookies. Left out, an embedded store makes its own beside the file.',
  }),
  furtherSecrets: z.array(secretReference).default([]).meta({
    description:
      'More secrets that open what they sealed and verify what they signed: the old one after a rotation and, with several replicas, the new one before it (docs/operator.md).',
  }),
  login: login.meta({ description: 'How members sign in: with the login they already have (docs/login).' }),
  upstreams: z.record(name, upstream).meta({ description: 'The services behind the gate, each by a name.' }),
  scopes: z.record(z.string().refine(isScopeToken, 'must be one scope token (RFC 6749 §3.3)'), scope),
  resourceIndicator: z.enum(['required', 'optional']).meta({
    description: 'Whether clients must send the RFC 8707 resource parameter. Set by the profile.',
  }),
  anonymous: z.enum(['refuse', 'serve']).meta({
    description:
      'What a protected route does without a token: refuse with 401, or serve as anonymous. Set by the profile.',
  }),
  enforcement: enforcement.prefault({}).meta({ description: 'Whether the routes are held to, or only watched.' }),
  routes: z
    .array(route, 'must be a list of routes. Observe mode is `enforcement: { mode: observe }`, beside it')
    .default([])
    .meta({ description: 'What apps may reach, and with which scopes. The first that matches is taken.' }),
  resources: z
    .array(
      z.strictObject({
        path: z
          .string()
          .regex(/^(\/[A-Za-z0-9._~-]+)+$/, 'must be a path such as /api/v1')
          .meta({ description: 'The path; the resource is the origin and it.' }),
        name: z.string().min(1).optional().meta({ description: 'What apps are told it is called.' }),
        scopes: z.array(z.string()).min(1).meta({ description: 'The scopes that a token for it can have.' }),
      }),
    )
    .default([])
    .meta({ description: 'Paths that are protected resources of their own: a token bound to one opens nothing else.' }),
  site: z
    .strictObject({ upstream: name.meta({ description: 'A name in upstreams.' }) })
    .optional()
    .meta({
      description: 'Where everything goes that is neither a route nor ours: the site as it is. Left out, that is 404.',
    }),
  account: account.optional().meta({ description: 'The Account API. Left out, there is none.' }),
  mcp: mcp.optional().meta({ description: 'Tools for agents, at /mcp and /mcp/member. Left out, there are none.' }),
  tokens: z
    .strictObject({
      access: duration.prefault('10m').meta({ description: 'How long an access token is good for (expires_in).' }),
      refresh: duration
        .prefault('30d')
        .meta({ description: 'How long a refresh token is good for; each use gives a new one.' }),
      refreshAbsolute: duration
        .prefault('365d')
        .meta({ description: 'How long a connection lasts, however often it is refreshed.' }),
      code: duration.prefault('60s').meta({ description: 'How long an authorization code is good for.' }),
      replayWindow: duration.pipe(z.number().max(60, 'must be at most 60s')).prefault('10s').meta({
        description:
          'How long a code or refresh token that was just used gets the same answer again, when the same request comes again; 0s: never.',
      }),
    })
    .prefault({})
    .meta({ description: 'How long tokens last.' }),
  keys: z
    .strictObject({
      rotate: duration
        .prefault('90d')
        .meta({ description: 'How long a signing key signs; its successor is published all that time.' }),
    })
    .prefault({})
    .meta({ description: 'The keys that ID tokens and assertions are signed with.' }),
  clients: clients.prefault({}).meta({ description: 'Which apps may ask members to be let in.' }),
  events: events.optional().meta({
    description:
      'Who let which app in, what ended and what was refused, told to the backend as signed webhooks (docs/events.md). Left out, nothing is.',
  }),
  limits: limits.prefault({}).meta({ description: 'How much one request, and one caller, may ask for.' }),
  pages: pages.prefault({}).meta({ description: 'How our own pages look: sign-in, consent, errors.' }),
  reload: reload.prefault({}).meta({ description: 'How a changed configuration is taken over without a restart.' }),
  log: log.prefault({}).meta({ description: 'The log of what happens goes to stderr, the access log to stdout.' }),
});

/** The configuration as the rest of the code takes it: durations in seconds, sizes in bytes, defaults filled in. */
export type Config = z.output<typeof configSchema>;
export type UpstreamConfig = Config['upstreams'][string];
export type RouteConfig = Config['routes'][number];
export type McpConfig = NonNullable<Config['mcp']>;
export type ToolConfig = McpConfig['tools'][number];
export type ScopeConfig = Config['scopes'][string];

/** Splits a route's `match`. Out: its methods (undefined for every method) and its path pattern. */
export function parseMatch(match: string): { methods: readonly string[] | undefined; pattern: string } {
  const space = match.indexOf(' ');
  const methods = match.slice(0, space);
  return { methods: methods === '*' ? undefined : methods.split('|'), pattern: match.slice(space + 1) };
}
