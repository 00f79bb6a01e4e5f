import type { SnippetOptions } from './snippet.ts';

/** For a `server` block. `=` and `^~` take precedence over regular expressions such as the one for .php. */
export function nginx({ paths, gate, identityFields }: SnippetOptions): string {
  const locations = [
    ...paths.exact.map((path) => `= ${quoted(path)}`),
    ...paths.under.map((path) => `^~ ${quoted(path)}`),
    ...paths.patterns.map((pattern) => `~ ${quoted(`^${pattern}$`)}`),
  ];
  const fields = identityFields.map((name) => `$http_${name.toLowerCase().replaceAll('-', '_')}`);
  return `# coursegate: its own addresses and the routes it protects. Everything else stays as it is.
# Include this in the server block of the site, before its other locations. Then: nginx -t
${
  fields.length === 0
    ? ''
    : `
# Only coursegate may set these fields, which identify the member.
set $coursegate_named "${fields.join('')}";
if ($coursegate_named != "") { return 400; }
`
}
# No buffering in either direction, so that event streams arrive at once. coursegate applies its own limits.
location @coursegate {
    proxy_pass http://${gate};
    proxy_http_version 1.1;
    proxy_set_header Host $http_host;
    proxy_set_header Connection "";
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

function quoted(text: string): string {
  return /^[\w./~^-]+$/.test(text) ? text : `"${text.replace(/["\\]/g, '\\$&')}"`;
}
