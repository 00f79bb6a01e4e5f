import { oneExpression } from './gate-paths.ts';
import type { SnippetOptions } from './snippet.ts';

/** For a site block. Caddy sets X-Forwarded-* itself, and accepts none from untrusted clients. */
export function caddy({ paths, gate, identityFields }: SnippetOptions): string {
  return `# coursegate: its own addresses and the routes it protects. Everything else stays as it is.
# Import this in the site block. Then: caddy validate
${
  identityFields.length === 0
    ? ''
    : `
# Only coursegate may set these fields, which identify the member.
${identityFields.map((name) => `request_header -${name}`).join('\n')}
`
}
@coursegate path_regexp \`${oneExpression(paths)}\`
handle @coursegate {
	reverse_proxy ${gate} {
		flush_interval -1
	}
}
`;
}
