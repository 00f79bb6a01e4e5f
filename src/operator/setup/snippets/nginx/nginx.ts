import type { SendingServer } from '../gateway.ts';
import { quoted } from '../nginx-text.ts';
import { guard, head, type SnippetOptions } from '../sending.ts';

export const nginx = {
  name: 'nginx',
  title: 'nginx',
  file: 'nginx.conf',
  write,
} as const satisfies SendingServer;

/** The site may have WebSockets. */
const NGINX_UPGRADE = `
set $coursegate_connection "";
if ($http_upgrade != "") { set $coursegate_connection "upgrade"; }
`;

/**
 * For a `server` block. `=` and `^~` take precedence over regular expressions such as the one for .php. With
 * `everything`, the gate's own paths are listed too: a longer prefix of the site would win over `/`.
 */
function write(options: SnippetOptions): string {
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
