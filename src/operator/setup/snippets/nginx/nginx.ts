import type { SendingServer } from '../gateway.ts';
import { quoted, requestVariable } from '../nginx-text.ts';
import { type SendingPlan, sendingFile } from '../sending.ts';

export const nginx = {
  name: 'nginx',
  title: 'nginx',
  file: 'nginx.conf',
  write,
} as const satisfies SendingServer;

/** The site may have WebSockets. */
const UPGRADE = {
  upgrade: ['', 'set $coursegate_connection "";', 'if ($http_upgrade != "") { set $coursegate_connection "upgrade"; }'],
  connection: ['proxy_set_header Upgrade $http_upgrade;', 'proxy_set_header Connection $coursegate_connection;'],
};
const NO_UPGRADE = { upgrade: [], connection: 'proxy_set_header Connection "";' };

/**
 * For a `server` block. `=` and `^~` take precedence over regular expressions such as the one for .php. With
 * `everything`, the gate's own paths are listed too: a longer prefix of the site would win over `/`.
 */
function write(plan: SendingPlan): string {
  const { paths, everything } = plan;
  const locations = [
    ...paths.exact.map((path) => `= ${quoted(path)}`),
    ...paths.under.map((path) => `^~ ${quoted(path)}`),
    ...paths.patterns.map((pattern) => `~ ${quoted(`^${pattern}$`)}`),
    ...(everything && !paths.under.includes('/') ? ['^~ "/"'] : []),
  ];
  return sendingFile('nginx/nginx.conf', plan, refuseNamed, {
    where: everything
      ? 'Include this in the server block of the site in place of all its locations: those left would pass the gate by'
      : 'Include this in the server block of the site, before its other locations',
    locations: locations.map(
      (location) =>
        `location ${location} { client_max_body_size 0; auth_basic off; try_files /.coursegate @coursegate; }`,
    ),
    ...(everything ? UPGRADE : NO_UPGRADE),
  });
}

function refuseNamed(names: readonly string[]): readonly string[] {
  return [
    `set $coursegate_named "${names.map(requestVariable).join('')}";`,
    'if ($coursegate_named != "") { return 400; }',
    '# nginx before 1.23 sees only the first of several. So put these lines into each location of the site that has a',
    '# proxy_pass; where it has a fastcgi_pass, use fastcgi_param HTTP_X_MEMBER_ID "" and so on.',
    ...names.map((name) => `#     proxy_set_header ${name} "";`),
  ];
}
