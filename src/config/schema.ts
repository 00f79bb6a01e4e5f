import { z } from 'zod';
import { account } from '../account/settings.ts';
import { events } from '../events/settings.ts';
import { limits } from '../limits/settings.ts';
import { login } from '../login/kinds.ts';
import { mcp } from '../mcp/settings.ts';
import { isScopeToken } from '../oauth/scope.ts';
import { enforcement } from '../operations/observe/settings.ts';
import { redisSettings } from '../storage/redis/settings.ts';
import { mysqlSettings, postgresSettings } from '../storage/sql/settings.ts';
import { upstream } from '../upstream/settings.ts';
import { admin } from './admin.ts';
import { claims } from './claims.ts';
import { clients } from './clients.ts';
import { CODE_LIFETIME, RELOAD_GRACE } from './constants.ts';
import { listen } from './listen.ts';
import { name, text } from './name.ts';
import { pages, translatable } from './pages.ts';
import { resource, route } from './route.ts';
import { KEY_MATERIAL, secret } from './secret.ts';
import { isTimeZone } from './time-zone.ts';
import { duration } from './units.ts';
import { origin } from './urls.ts';

const store = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('sqlite'),
    path: text.describe('The database file, relative to this file. It must be on a local disk.'),
  }),
  redisSettings,
  postgresSettings,
  mysqlSettings,
  z.strictObject({ kind: z.literal('memory') }),
]);

const scope = z.strictObject({
  title: translatable.describe('What the member reads on the consent page: a sentence.'),
  kind: z
    .enum(['identity', 'people', 'read', 'write'])
    .describe(
      'The group it is listed under on the consent page. A scope of kind `write` starts unticked. `people` is for reading about other people: on a long page, these are named before those of kind `read`.',
    ),
});

const tokens = z
  .strictObject({
    access: duration.prefault('10m').describe('Lifetime of an access token (expires_in).'),
    refresh: duration.prefault('30d').describe('Lifetime of a refresh token. Each use issues a new one.'),
    refreshAbsolute: duration.prefault('365d').describe('How long an app stays connected, however often it refreshes.'),
    replayWindow: duration.pipe(z.number().max(60, 'must be at most 60s')).prefault('10s').meta({
      description:
        'Replay window: how long a repeated refresh gets the same response again, and a repeated exchange of a code is refused without ending the connection. 0s turns this off.',
    }),
  })
  .transform((given) => ({ ...given, code: CODE_LIFETIME }));

const log = z.strictObject({
  level: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info').meta({
    description: 'Lowest level written to stderr. Audit entries are written at every level except `silent`.',
  }),
  access: z.boolean().default(true).describe('Whether each request is logged to stdout, as one JSON object per line.'),
  member: z.enum(['id', 'hash', 'none']).default('id').meta({
    description: 'How the access log identifies members: by ID, by a stable keyed hash, or not at all.',
  }),
});

/** How a new configuration replaces the current one while the gate is running. */
const reload = z
  .strictObject({
    watch: z.boolean().default(true).meta({
      description:
        'Whether a change to the configuration file, or to a file that it names, is applied automatically. SIGHUP always applies it.',
    }),
  })
  .transform((given) => ({ ...given, grace: RELOAD_GRACE }));

export { parseMatch } from './route.ts';

/**
 * The configuration: the operator's file with the profile and the environment merged in. Descriptions are what operators
 * read: `npm run schema` copies them into schema/config.schema.json and config/README.md.
 */
export const configSchema = z.strictObject({
  $schema: z.string().optional().describe('Path or URL of schema/config.schema.json, for editors.'),
  version: z.literal(1).describe('Version of the file format.'),
  origin: origin.describe(
    'Public address that members and apps use, such as https://school.example. It is the issuer, the audience and the base of every URL. It is part of every token, so avoid changing it.',
  ),
  name: text.max(64).default('This school').describe('Name of the school, as members know it.'),
  timeZone: z
    .string()
    .refine(isTimeZone, 'must be an IANA time zone such as Europe/Madrid')
    .default('UTC')
    .describe('IANA time zone of the site: of dates on the pages, and of local times that the Account API reads.'),
  listen: listen.prefault({}).describe('Where the gate listens, and limits on connections.'),
  admin: admin
    .prefault({})
    .describe('Who may run commands on the admin listener: revoke, suspend and look up. If omitted, no one can.'),
  store: store.describe(
    'Where grants, tokens and apps are stored: `sqlite` (one file, one machine), `redis`, `postgres` or `mysql` (for several replicas; docs/stores.md) or `memory` (lost when the process ends).',
  ),
  secret: secret(
    KEY_MATERIAL,
    'Key material (at least 32 bytes) that encrypts the store and signs cookies. If omitted, an embedded store generates its own next to its file.',
  ).optional(),
  furtherSecrets: z.array(secret(KEY_MATERIAL)).default([]).meta({
    description:
      'Additional secrets that are accepted for decryption and verification only: the old one after a rotation and, with several replicas, the new one before it (docs/operator.md).',
  }),
  login: login.describe('How members sign in with their existing login (docs/login).'),
  upstreams: z.record(name, upstream).describe('Services behind the gate, by name.'),
  scopes: z.record(z.string().refine(isScopeToken, 'must be one scope token (RFC 6749 section 3.3)'), scope),
  resourceIndicator: z
    .enum(['required', 'optional'])
    .describe('Whether clients must send the `resource` parameter (RFC 8707). Set by the profile.'),
  anonymous: z.enum(['refuse', 'serve']).meta({
    description:
      'What a protected route does with a request without a token: `refuse` (401) or `serve` it as anonymous. Set by the profile.',
  }),
  enforcement: enforcement.prefault({}).describe('Whether routes are enforced or only observed.'),
  routes: z
    .array(route, 'must be a list of routes. For observe mode, use `enforcement: { mode: observe }`')
    .default([])
    .describe('What apps may access, and with which scopes. The first route that matches a request applies.'),
  resources: z.array(resource).default([]).meta({
    description: 'Paths that are separate protected resources: a token bound to one is refused everywhere else.',
  }),
  site: z
    .strictObject({ upstream: name.describe('A name in `upstreams`.') })
    .optional()
    .describe(
      'The existing site, which gets every request that is neither for a route nor for one of coursegate’s own endpoints. If omitted, such requests get 404.',
    ),
  account: account.optional().describe('The Account API. Off if omitted.'),
  mcp: mcp.optional().describe('Tools for agents (Model Context Protocol), at /mcp and /mcp/member. Off if omitted.'),
  tokens: tokens.prefault({}).describe('Lifetimes of tokens.'),
  keys: z
    .strictObject({
      rotate: duration
        .prefault('90d')
        .describe('How long a key is used for signing. The next key is published during that time.'),
    })
    .prefault({})
    .describe('Keys that sign ID tokens and assertions.'),
  claims: claims.default({}).meta({
    description: 'Custom claims about a member in token responses and userinfo, by name, such as `roles` or `org_id`.',
  }),
  clients: clients.prefault({}).describe('Which apps may ask members for access.'),
  events: events.optional().meta({
    description:
      'Signed webhooks that notify the backend about consents, grants, apps and refusals (docs/events.md). Off if omitted.',
  }),
  limits: limits.prefault({}).describe('Limits on single requests and on callers.'),
  pages: pages.prefault({}).describe('Appearance of coursegate’s own pages: sign-in, consent and errors.'),
  reload: reload.prefault({}).describe('How configuration changes are applied without a restart.'),
  log: log.prefault({}).describe('Logging: the event log goes to stderr, the access log to stdout.'),
});

/** The parsed configuration: durations in seconds, sizes in bytes, defaults filled in. */
export type Config = z.output<typeof configSchema>;
export type UpstreamConfig = Config['upstreams'][string];
export type RouteConfig = Config['routes'][number];
export type McpConfig = NonNullable<Config['mcp']>;
export type ToolConfig = McpConfig['tools'][number];
export type ScopeConfig = Config['scopes'][string];
