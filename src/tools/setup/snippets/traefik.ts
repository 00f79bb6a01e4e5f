import { oneExpression } from './gate-paths.ts';
import type { SnippetOptions } from './snippet.ts';

/** For the file provider of Traefik 3. Traefik sets X-Forwarded-* itself, and accepts none from untrusted clients. */
export function traefik({ paths, gate, origin, identityFields }: SnippetOptions): string {
  const { hostname, protocol } = new URL(origin);
  const rule = `Host(\`${hostname}\`) && PathRegexp(\`${oneExpression(paths)}\`)`;
  const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
  return `# coursegate: its own addresses and the routes it protects. Everything else stays as it is.
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
${identityFields.map((name) => `          ${name}: ''`).join('\n')}
`
}`;
}
