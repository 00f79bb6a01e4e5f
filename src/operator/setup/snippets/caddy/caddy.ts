import type { SendingServer } from '../gateway.ts';
import { type SendingPlan, sendingFile, spelled } from '../sending.ts';

export const caddy = {
  name: 'caddy',
  title: 'Caddy',
  file: 'Caddyfile',
  write,
} as const satisfies SendingServer;

/** For a site block. Caddy sets X-Forwarded-* itself, and accepts none from untrusted clients. */
function write(plan: SendingPlan): string {
  return sendingFile('caddy/Caddyfile', plan, (names) => spelled(names).map((name) => `request_header -${name}`));
}
