import { oneExpression } from './gate-paths.ts';
import type { SnippetOptions } from './snippet.ts';

/** For a site block. Caddy sets X-Forwarded-* itself, and takes none from strangers. */
export function caddy({ paths, gate, identityFields }: SnippetOptions): string {
  return `# coursegate: its own addresses and the routes it protects. Everything else stays as it is.
# Import this in the block of the site. Then: caddy validate
${
  identityFields.length === 0
    ? ''
    : `
# Only coursegate may say by these fields who asks.
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
