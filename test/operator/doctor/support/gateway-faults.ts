import {
  type CaddyOptions,
  caddySite,
  FAIL_OPEN,
  type HaproxyOptions,
  haproxySite,
  type NginxOptions,
  nginxSite,
  type Place,
  REMOVED,
} from './gateway-sites.ts';

export type Kind = 'nginx' | 'haproxy' | 'caddy';

/** One configuration of a real gateway, and exactly the checks that must report it. */
export interface Behind {
  readonly what: string;
  readonly kind: Kind;
  /** The configuration, in the gateway’s language. */
  readonly site: (place: Place) => string;
  readonly finds: readonly string[];
  /** Text that the first of them must report. */
  readonly says?: RegExp;
  /** The published advisory with this fault. */
  readonly advisory?: string;
  readonly token?: string;
  readonly authDown?: boolean;
}

type Fault = Omit<Behind, 'what' | 'kind' | 'site'>;

const nginx = (what: string, options: NginxOptions, fault: Fault): Behind => ({
  what: `nginx: ${what}`,
  kind: 'nginx',
  site: (place) => nginxSite(place, options),
  ...fault,
});
const haproxy = (what: string, options: HaproxyOptions, fault: Fault): Behind => ({
  what: `HAProxy: ${what}`,
  kind: 'haproxy',
  site: (place) => haproxySite(place, options),
  ...fault,
});
const caddy = (what: string, options: CaddyOptions, fault: Fault): Behind => ({
  what: `Caddy: ${what}`,
  kind: 'caddy',
  site: (place) => caddySite(place, options),
  ...fault,
});

/** Nothing listens on port 1. */
const NOWHERE = '127.0.0.1:1';

/** Fields that an nginx drops which passes all others of the client. */
const DROP = [
  ...['X-Member-Id', 'X-Member-User', 'X-Member-Name', 'X-Member-Email', 'X-Member-Groups', 'X-Member-Roles'],
  ...['X-Member-Scope', 'X-Client-Id', 'X-Coursegate-Assertion', 'X-Forwarded-User', 'X-Forwarded-Email'],
  ...['X-Forwarded-Groups', 'X-Forwarded-Preferred-Username', 'X-Forwarded-Access-Token', 'X-Auth-Request-User'],
  ...['X-Auth-Request-Email', 'X-Auth-Request-Groups', 'Remote-User', 'Remote-Groups', 'Remote-Name', 'Remote-Email'],
  ...['X-Remote-User', 'X-WEBAUTH-USER', 'X-Authenticated-User', 'X-Authenticated-Userid', 'X-Auth-User', 'X-User'],
  ...['X-User-Id', 'X-User-Email', 'X-Authentik-Username', 'X-Vouch-User', 'X-Consumer-Username'],
  ...['X-Credential-Identifier', 'X-Pomerium-Jwt-Assertion', 'Cf-Access-Authenticated-User-Email'],
  ...['X-Goog-Authenticated-User-Email', 'X-Amzn-Oidc-Identity', 'X-MS-CLIENT-PRINCIPAL-NAME'],
  ...['Tailscale-User-Login', 'X-SSL-Client-S-DN', 'X-Forwarded-Client-Cert', 'Client-Cert', 'Forwarded'],
  ...['X-Original-URL', 'X-Rewrite-URL', 'X-Original-URI', 'X-HTTP-Method-Override', 'X-HTTP-Method'],
  ...['X-Method-Override', 'X-Sendfile-Type', 'X-Accel-Mapping', 'X-Forwarded-Host', 'X-Forwarded-Port'],
  ...['X-Forwarded-Prefix', 'X-Forwarded-Uri', 'X-Forwarded-Method', 'X-Forwarded-Server', 'X-Forwarded-Scheme'],
  ...['X-Forwarded-Ssl', 'X-Client-IP', 'True-Client-IP', 'X-Cluster-Client-IP'],
].filter((name) => name !== 'X-Member-Id');

/** What an nginx does about the rest of the site that refuses X-Member-Id and drops other fields. */
const SITE = DROP.map((name) => `proxy_set_header ${name} "";`).join(' ');

export const CORRECT: readonly Behind[] = [
  nginx('listed fields, and the answers restored', {}, { finds: [] }),
  nginx('all fields but the dangerous ones', { drop: DROP }, { finds: [] }),
  nginx('the auth service asked about every path', { askAlways: true, service: 'open below public' }, { finds: [] }),
  nginx('503 while the auth service is stopped', { authAt: NOWHERE }, { finds: [], authDown: true }),
  haproxy('with Lua', {}, { finds: [] }),
  caddy('forward_auth', {}, { finds: [] }),
];

export const FAULTS: readonly Behind[] = [
  nginx(
    'the auth service believes X-Forwarded-Uri, which anyone may send',
    { service: 'prefers X-Forwarded-Uri', askWithAll: true },
    { finds: ['described.decision'], says: /X-Forwarded-Uri: \/public/, advisory: 'CVE-2026-40575' },
  ),
  nginx(
    'underscores_in_headers on',
    { drop: DROP, server: 'underscores_in_headers on;' },
    {
      finds: ['forged.underscore', 'forged.public', 'described.forwarded'],
      says: /reached the backend as X_Member_Id, beside the gateway’s own/,
      advisory: 'CVE-2025-64484',
    },
  ),
  nginx(
    'the auth service searches the query too',
    { service: 'judges the query' },
    { finds: ['described.query'], advisory: 'GHSA-7rh7-c77v-6434' },
  ),
  nginx(
    'the auth service judges the fragment',
    { service: 'judges the fragment', odd: ['truncated'] },
    { finds: ['path.truncated'], advisory: 'GHSA-pxq7-h93f-9jrg' },
  ),
  haproxy(
    'X-Forwarded-Prefix of the client is passed',
    { keep: 'x-forwarded-prefix' },
    { finds: ['described.forwarded'], says: /X-Forwarded-Prefix$/, advisory: 'CVE-2026-35051' },
  ),
  haproxy(
    'X_Forwarded_Host of the client is passed',
    { keep: 'x_forwarded_host' },
    { finds: ['described.forwarded'], says: /X_Forwarded_Host$/, advisory: 'CVE-2026-39858' },
  ),
  haproxy(
    'X_Member_Id of the client is passed',
    { keep: 'x_member_id' },
    { finds: ['forged.underscore', 'forged.public'], advisory: 'CVE-2026-54763' },
  ),
  nginx(
    'ignore_invalid_headers off',
    { drop: DROP, server: 'ignore_invalid_headers off;' },
    {
      finds: ['forged.dot', 'forged.underscore', 'forged.public', 'described.forwarded'],
      says: /X\.Member\.Id/,
      advisory: 'Traefik 3.7.13',
    },
  ),
  haproxy(
    'X-Forwarded-Port of the client is passed',
    { keep: 'x-forwarded-port' },
    { finds: ['described.forwarded'], says: /X-Forwarded-Port$/, advisory: 'CVE-2026-54764' },
  ),
  haproxy(
    'the identity is replaced only if the auth service names one',
    {
      keep: 'x-member-id',
      protect: 'path_beg /echo /staff /public',
      service: 'open below public',
      identify: 'set-header X-Member-Id %[var(txn.member)] if { var(txn.member) -m found }',
    },
    { finds: ['forged.public', 'forged.unusual'], advisory: 'GHSA-7r4p-vjf4-gxv4' },
  ),
  caddy(
    'fields with underscores are passed',
    { remove: [...REMOVED, 'True-Client-Ip'].filter((name) => name !== '*_*') },
    { finds: ['forged.underscore', 'forged.public', 'described.forwarded'], advisory: 'GHSA-f59h-q822-g45g' },
  ),
  nginx(
    'identity fields are refused by the first of several',
    { drop: DROP, server: 'if ($http_x_member_id) { return 400; }', site: SITE },
    { finds: ['forged.public'], says: /X-Member-Id reached the backend/ },
  ),
  nginx(
    'internal locations are told by a path that clients can send, before anything is refused',
    {
      drop: DROP,
      server: 'if ($uri ~ "^/[.]coursegate/") { break; } if ($http_x_member_id) { return 400; }',
      site: SITE,
    },
    { finds: ['forged.unusual', 'forged.public'], says: /at \/\.coursegate\/x, the client’s X-Member-Id/ },
  ),
  haproxy(
    'the identity is added to the client’s',
    {
      keep: 'x-member-id',
      identify:
        'add-header X-Member-Id %[var(txn.member)] if protected\n  http-request del-header X-Member-Id unless protected',
    },
    { finds: ['forged.identity'], says: /beside the gateway’s own x-member-id/, advisory: 'CVE-2026-31908' },
  ),
  nginx(
    'the auth service judges the raw path, and the normalised one is forwarded',
    { service: 'judges the raw prefix', askAlways: true, odd: ['dots'], target: '$uri$is_args$args' },
    {
      finds: ['path.dot-segments', 'path.forwarded'],
      says: /reached the backend as GET \/echo$/,
      advisory: 'GHSA-p224-6x5r-fjpm',
    },
  ),
  nginx(
    'the auth service believes X-Forwarded-Proto',
    { service: 'protects only https', askWithAll: true },
    { finds: ['described.decision'], says: /X-Forwarded-Proto: http /, advisory: 'GHSA-vhr5-ggp3-qq85' },
  ),
  nginx(
    'the auth service opens everything to X-Forwarded-Host: localhost',
    { service: 'opens to localhost', askWithAll: true },
    { finds: ['described.decision'], says: /X-Forwarded-Host: localhost / },
  ),
  nginx(
    'the auth service judges the decoded path, and the raw one is forwarded',
    { service: 'judges the decoded path', askAlways: true, odd: ['dots'] },
    { finds: ['path.dot-segments'], advisory: 'GHSA-r9fw-vxmp-hwf2' },
  ),
  haproxy(
    'path parameters are passed',
    { odd: ['parameters'] },
    { finds: ['path.parameters'], says: /which some servers read as \/echo/, advisory: 'CVE-2026-73551' },
  ),
  nginx(
    'a failing auth service admits',
    { service: 'fails at long tokens', answers: FAIL_OPEN },
    { finds: ['open.error'], says: /a token of 6,000 characters/, advisory: 'GHSA-9g5w-hqr3-w2ph' },
  ),
  nginx(
    'a stopped auth service admits',
    { authAt: NOWHERE, answers: FAIL_OPEN },
    { finds: ['open.down'], authDown: true },
  ),
  caddy(
    'the client’s Connection field is kept',
    { remove: [...REMOVED, 'True-Client-Ip'].filter((name) => name !== 'Connection') },
    { finds: ['forged.connection'], says: /without X-Member-Id$/ },
  ),
  caddy(
    'Remote-User of the client is passed',
    { remove: [...REMOVED, 'True-Client-Ip'].filter((name) => name !== 'Remote-*') },
    { finds: ['forged.other-names'], says: /Remote-User/ },
  ),
  caddy('only GET is protected', { protect: 'path /echo* /staff*\n\t\t\tmethod GET' }, { finds: ['open.methods'] }),
  haproxy('dot segments are passed', { odd: ['dots'] }, { finds: ['path.dot-segments'] }),
  haproxy('repeated slashes and backslashes are passed', { odd: ['slashes'] }, { finds: ['path.slashes'] }),
  haproxy('encoded letters are passed', { odd: ['encoded'] }, { finds: ['path.encoded'] }),
  haproxy(
    'only targets in origin form are protected',
    { absolute: true, protect: 'url_beg /echo /staff' },
    { finds: ['path.absolute'] },
  ),
  haproxy('X-Original-URL of the client is passed', { keep: 'x-original-url' }, { finds: ['described.rewrite'] }),
  haproxy(
    'X-Forwarded-For of the client is passed',
    { keep: 'x-forwarded-for', address: '' },
    { finds: ['described.address'] },
  ),
  haproxy('no challenge', { challenge: '' }, { finds: ['refusal.challenge', 'refusal.forbidden'] }),
  haproxy('no Retry-After', { later: '', service: 'is busy with long tokens' }, { finds: ['refusal.retry-after'] }),
  nginx('its own pages instead of the answers', { answers: '' }, { finds: ['refusal.body', 'refusal.forbidden'] }),
  nginx(
    'another refusal than 401 and 403',
    { service: 'calls long tokens malformed', answers: 'error_page 401 = /answer/401; error_page 403 = /answer/403;' },
    { finds: ['refusal.status'], says: /gets 500/ },
  ),
  nginx('decisions are cached by the path alone', { cached: true }, { finds: ['open.cached'] }),
  nginx('the auth service is not asked', { protect: '' }, { finds: ['echo.protected'] }),
  nginx('a token that is not valid', {}, { finds: ['echo.reached'], token: 'another-token' }),
];
