import { oneExpression } from './gate-paths.ts';
import type { SnippetOptions } from './snippet.ts';

/** For a VirtualHost. mod_proxy takes precedence over files, PHP and .htaccess, and passes the URL on unchanged. */
export function apache({ paths, gate, identityFields }: SnippetOptions): string {
  return `# coursegate: its own addresses and the routes it protects. Everything else stays as it is.
# Include this in the VirtualHost of the site, before other ProxyPass lines.
# Needs: a2enmod proxy proxy_http headers. Then: apachectl configtest
${
  identityFields.length === 0
    ? ''
    : `
# Only coursegate may set these fields, which identify the member.
${identityFields.map((name) => `RequestHeader unset ${name} early`).join('\n')}
`
}
<LocationMatch "${oneExpression(paths).replaceAll('"', '\\"')}">
    ProxyPass "http://${gate}" timeout=3600 flushpackets=on
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
