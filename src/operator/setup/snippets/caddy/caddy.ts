import type { SendingServer } from '../gateway.ts';
import { type SnippetOptions, sendingFile, spelled } from '../sending.ts';

export const caddy = {
  name: 'caddy',
  title: 'Caddy',
  file: 'Caddyfile',
  write,
} as const satisfies SendingServer;

/** For a site block. Caddy sets X-Forwarded-* itself, and accepts none from untrusted clients. */
function write(options: SnippetOptions): string {
  return sendingFile('caddy/Caddyfile', options, (names) => spelled(names).map((name) => `request_header -${name}`));
}
