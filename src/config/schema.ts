import { z } from 'zod';
import { account } from '../account/settings.ts';
import { events } from '../events/settings.ts';
import { limits } from '../limits/settings.ts';
import { login } from '../login/kinds.ts';
import { mcp } from '../mcp/settings.ts';
import { isScopeToken } from '../oauth/scope.ts';
import { enforcement } from '../operations/observe/settings.ts';
import { roles } from '../roles/settings.ts';
import { roleRule } from '../roles/settings-rule.ts';
import { redisSettings } from '../storage/redis/settings.ts';
import { mysqlSettings, postgresSettings } from '../storage/sql/settings.ts';
import { upstream } from '../upstream/settings.ts';
import { admin } from './admin.ts';
import { claims } from './claims.ts';
import { clients } from './clients.ts';
import { CODE_LIFETIME, RELOAD_GRACE } from './constants.ts';
import { listen } from './listen.ts';
import { name, SCHOOL_FILES, text } from './name.ts';
import { pages, translatable } from './pages.ts';
import { resource, route } from './route.ts';
import { KEY_MATERIAL, secret } from './secret.ts';
import { isTimeZone } from './time-zone.ts';
import { duration } from './units.ts';
import { origin } from './urls.ts';

const store = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('sqlite'),
    path: text,
  }),
  redisSettings,
  postgresSettings,
  mysqlSettings,
  z.strictObject({ kind: z.literal('memory') }),
]);

const scope = z.strictObject({
  title: translatable,
  kind: z.enum(['identity', 'people', 'read', 'write']),
  role: roleRule.optional(),
});

const tokens = z
  .strictObject({
    access: duration.prefault('10m'),
    refresh: duration.prefault('30d'),
    refreshAbsolute: duration.prefault('365d'),
    replayWindow: duration.pipe(z.number().max(60, 'must be at most 60s')).prefault('10s'),
  })
  .transform((given) => ({ ...given, code: CODE_LIFETIME }));

const log = z.strictObject({
  level: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  access: z.boolean().default(true),
  member: z.enum(['id', 'hash', 'none']).default('id'),
});

/** How a new configuration replaces the current one while the gate is running. */
const reload = z
  .strictObject({
    watch: z.boolean().default(true),
  })
  .transform((given) => ({ ...given, grace: RELOAD_GRACE }));

export { parseMatch, type RouteConfig } from './route.ts';

/**
 * The configuration: the operator's file with the profile and the environment merged in. What operators read of
 * each key is in keys.yaml: `npm run schema` copies it into schema/config.schema.json and config/README.md.
 */
export const configSchema = z.strictObject({
  $schema: z.string().optional(),
  version: z.literal(1),
  extends: text.optional(),
  schools: text.regex(SCHOOL_FILES, 'must be the files of a folder, such as ./schools/*.yaml').optional(),
  domains: text.optional(),
  origin,
  aliases: z.record(origin, z.enum(['redirect', 'serve'])).optional(),
  name: text.max(64).default('This school'),
  timeZone: z.string().refine(isTimeZone, 'must be an IANA time zone such as Europe/Madrid').default('UTC'),
  listen: listen.prefault({}),
  admin: admin.prefault({}),
  store: store,
  secret: secret(KEY_MATERIAL).optional(),
  furtherSecrets: z.array(secret(KEY_MATERIAL)).default([]),
  login: login,
  upstreams: z.record(name, upstream),
  scopes: z.record(z.string().refine(isScopeToken, 'must be one scope token (RFC 6749 section 3.3)'), scope),
  resourceIndicator: z.enum(['required', 'optional']),
  anonymous: z.enum(['refuse', 'serve']),
  enforcement: enforcement.prefault({}),
  routes: z
    .array(route, 'must be a list of routes. For observe mode, use `enforcement: { mode: observe }`')
    .default([]),
  resources: z.array(resource).default([]),
  roles: roles.optional(),
  site: z.strictObject({ upstream: name }).optional(),
  account: account.optional(),
  mcp: mcp.optional(),
  tokens: tokens.prefault({}),
  keys: z
    .strictObject({
      rotate: duration.prefault('90d'),
    })
    .prefault({}),
  claims: claims.default({}),
  clients: clients.prefault({}),
  events: events.optional(),
  limits: limits.prefault({}),
  pages: pages.prefault({}),
  reload: reload.prefault({}),
  log: log.prefault({}),
});

/** The parsed configuration: durations in seconds, sizes in bytes, defaults filled in. */
export type Config = z.output<typeof configSchema>;
export type UpstreamConfig = Config['upstreams'][string];
export type McpConfig = NonNullable<Config['mcp']>;
export type ToolConfig = McpConfig['tools'][number];
export type ScopeConfig = Config['scopes'][string];
