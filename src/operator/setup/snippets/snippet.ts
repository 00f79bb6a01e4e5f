import type { Server } from '../names.ts';
import { caddyAuth } from './caddy-auth.ts';
import { envoy } from './envoy.ts';
import { envoyGrpc } from './envoy-grpc.ts';
import { spellings } from './forged-names.ts';
import { type GatePaths, oneExpression } from './gate-paths.ts';
import { gatewayApi } from './gateway-api.ts';
import { haproxyAuth } from './haproxy-auth.ts';
import { istio } from './istio.ts';
import { nginxAuth } from './nginx-auth.ts';
import { quoted } from './nginx-text.ts';
import type { WritePlugin } from './plugin-options.ts';
import { traefikAuth } from './traefik-auth.ts';

/** What a web server needs to send the gate its own paths, and with `everything` all others. */
export interface SnippetOptions {
  readonly paths: GatePaths;
  /** Whether every other request goes to the gate too, which passes it to the site. */
  readonly everything: boolean;
  /** host:port at which the web server reaches the gate. */
  readonly gate: string;
  /** The public origin. */
  readonly origin: string;
  /** Header fields that identify a member to the backend. Requests that bypass the gate must not carry them. */
  readonly identityFields: readonly string[];
}

type Write = (options: SnippetOptions) => string;

/** By the name in `--for`: how a web server sends requests to the gate, and how a gateway asks about them instead. */
export const SNIPPETS: Readonly<Record<Server, { readonly file: string; readonly write: Write } | WritePlugin>> = {
  nginx: { file: 'nginx.conf', write: nginx },
  apache: { file: 'apache.conf', write: apache },
  caddy: { file: 'Caddyfile', write: caddy },
  traefik: { file: 'traefik.yaml', write: traefik },
  'nginx-auth': nginxAuth,
  'caddy-auth': caddyAuth,
  'traefik-auth': traefikAuth,
  envoy,
  'envoy-grpc': envoyGrpc,
  haproxy: haproxyAuth,
  istio,
  'gateway-api': gatewayApi,
};

/** The first line. */
function head({ everything }: SnippetOptions): string {
  return everything
    ? '# coursegate: every request goes to it, and it passes on to the site what is not its own.'
    : '# coursegate: its own addresses and the routes it protects. Everything else stays as it is.';
}

/** The paths of requests that go to the gate. */
function expressionOf({ paths, everything }: SnippetOptions): string {
  return everything ? '^(/.*)$' : oneExpression(paths);
}

/** The lines that keep others from setting the identity fields; none if the site reads none. */
function guard({ identityFields }: SnippetOptions, lines: (names: readonly string[]) => readonly string[]): string {
  if (identityFields.length === 0) return '';
  const why = '# Only coursegate may set these fields, which identify the member.';
  return `\n${why}\n${lines(identityFields).join('\n')}\n`;
}

/** Names in every spelling, for web servers that pass on all of them. */
const spelled = (names: readonly string[]) => names.flatMap((name) => spellings(name.toLowerCase()));

/** The site may have WebSockets. */
const NGINX_UPGRADE = `
set $coursegate_connection "";
if ($http_upgrade != "") { set $coursegate_connection "upgrade"; }
`;

/**
 * For a `server` block. `=` and `^~` take precedence over regular expressions such as the one for .php. With
 * `everything`, the gate's own paths are listed too: a longer prefix of the site would win over `/`.
 */
function nginx(options: SnippetOptions): string {
  const { paths, everything, gate } = options;
  const refuseNamed = (names: readonly string[]) => {
    const variables = names.map((name) => `$http_${name.toLowerCase().replaceAll('-', '_')}`);
    return [
      `set $coursegate_named "${variables.join('')}";`,
      'if ($coursegate_named != "") { return 400; }',
      '# nginx before 1.23 sees only the first of several. So put these lines into each location of the site that has a',
      '# proxy_pass; where it has a fastcgi_pass, use fastcgi_param HTTP_X_MEMBER_ID "" and so on.',
      ...names.map((name) => `#     proxy_set_header ${name} "";`),
    ];
  };
  const locations = [
    ...paths.exact.map((path) => `= ${quoted(path)}`),
    ...paths.under.map((path) => `^~ ${quoted(path)}`),
    ...paths.patterns.map((pattern) => `~ ${quoted(`^${pattern}$`)}`),
    ...(everything && !paths.under.includes('/') ? ['^~ "/"'] : []),
  ];
  const where = everything
    ? 'Include this in the server block of the site in place of all its locations: those left would pass the gate by'
    : 'Include this in the server block of the site, before its other locations';
  return `${head(options)}
# ${where}. Then: nginx -t
${guard(options, refuseNamed)}${everything ? NGINX_UPGRADE : ''}
# No buffering in either direction, so that event streams arrive at once. coursegate applies its own limits.
location @coursegate {
    proxy_pass http://${gate};
    proxy_http_version 1.1;
    proxy_set_header Host $http_host;
${everything ? '    proxy_set_header Upgrade $http_upgrade;\n    proxy_set_header Connection $coursegate_connection;' : '    proxy_set_header Connection "";'}
    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    proxy_set_header X-Forwarded-Host $http_host;
    proxy_set_header X-Forwarded-Proto $scheme;
    proxy_set_header X-Request-Id $request_id;
    proxy_redirect off;
    proxy_intercept_errors off;
    proxy_buffering off;
    proxy_request_buffering off;
    proxy_cache off;
    proxy_read_timeout 1h;
}

# This file does not exist, so each request goes unchanged to the block above.
${locations.map((location) => `location ${location} { client_max_body_size 0; auth_basic off; try_files /.coursegate @coursegate; }`).join('\n')}
`;
}

/** For a VirtualHost. mod_proxy takes precedence over files, PHP and .htaccess, and passes the URL on unchanged. */
function apache(options: SnippetOptions): string {
  const { gate, everything } = options;
  return `${head(options)}
# Include this in the VirtualHost of the site, before other ProxyPass lines.
# Needs: a2enmod proxy proxy_http headers. Then: apachectl configtest
${guard(options, (names) => spelled(names).map((name) => `RequestHeader unset ${name} early`))}
<LocationMatch "${expressionOf(options).replaceAll('"', '\\"')}">
    ProxyPass "http://${gate}" timeout=3600 flushpackets=on${everything ? ' upgrade=websocket' : ''}
    ProxyPreserveHost On
    ProxyErrorOverride Off
    RequestHeader set X-Forwarded-Proto "expr=%{REQUEST_SCHEME}"
    RequestHeader unset Forwarded
    LimitRequestBody 0
    AuthType None
    Require all granted
</LocationMatch>
`;
}

/** For a site block. Caddy sets X-Forwarded-* itself, and accepts none from untrusted clients. */
function caddy(options: SnippetOptions): string {
  const { gate } = options;
  return `${head(options)}
# Import this in the site block. Then: caddy validate
${guard(options, (names) => spelled(names).map((name) => `request_header -${name}`))}
@coursegate path_regexp \`${expressionOf(options)}\`
handle @coursegate {
	reverse_proxy ${gate} {
		flush_interval -1
	}
}
`;
}

/** For the file provider of Traefik 3. Traefik sets X-Forwarded-* itself, and accepts none from untrusted clients. */
function traefik(options: SnippetOptions): string {
  const { gate, origin, identityFields } = options;
  const { hostname, protocol } = new URL(origin);
  const rule = `Host(\`${hostname}\`) && PathRegexp(\`${expressionOf(options)}\`)`;
  const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
  return `${head(options)}
# For the file provider of Traefik 3. The priority must be above that of the site's own router.
http:
  routers:
    coursegate:
      rule: ${quoted(rule)}
      priority: 100000
      service: coursegate
${protocol === 'https:' ? '      tls: {}   # and the certResolver of the site, if it has one\n' : ''}  services:
    coursegate:
      loadBalancer:
        passHostHeader: true
        responseForwarding: { flushInterval: 1ms }
        servers:
          - url: http://${gate}
${
  identityFields.length === 0
    ? ''
    : `  middlewares:
    # For the site's own router: only coursegate may set these fields, which identify the member.
    coursegate-site:
      headers:
        customRequestHeaders:
${spelled(identityFields)
  .map((name) => `          ${name}: ''`)
  .join('\n')}
`
}`;
}
