import type { SendingServer } from '../gateway.ts';
import { expressionOf, guard, head, type SnippetOptions, spelled } from '../sending.ts';

export const caddy = {
  name: 'caddy',
  title: 'Caddy',
  file: 'Caddyfile',
  write,
} as const satisfies SendingServer;

/** For a site block. Caddy sets X-Forwarded-* itself, and accepts none from untrusted clients. */
function write(options: SnippetOptions): string {
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
