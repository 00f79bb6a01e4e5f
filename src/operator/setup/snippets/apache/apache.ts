import type { SendingServer } from '../gateway.ts';
import { expressionOf, guard, head, type SnippetOptions, spelled } from '../sending.ts';

export const apache = {
  name: 'apache',
  title: 'Apache',
  file: 'apache.conf',
  write,
} as const satisfies SendingServer;

/** For a VirtualHost. mod_proxy takes precedence over files, PHP and .htaccess, and passes the URL on unchanged. */
function write(options: SnippetOptions): string {
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
