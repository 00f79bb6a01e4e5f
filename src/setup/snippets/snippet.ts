import { apache } from './apache.ts';
import { caddy } from './caddy.ts';
import type { GatePaths } from './gate-paths.ts';
import { nginx } from './nginx.ts';
import { traefik } from './traefik.ts';

/** What a web server needs to be told to pass the gate its paths, and nothing else. */
export interface SnippetOptions {
  readonly paths: GatePaths;
  /** Where the gate listens, as the web server reaches it: host:port. */
  readonly gate: string;
  /** The public origin. */
  readonly origin: string;
  /** Fields that name a member to the backend: whoever asks the site past the gate must not send them. */
  readonly identityFields: readonly string[];
}

export const SNIPPETS: Readonly<Record<string, { readonly file: string; readonly write: Write }>> = {
  nginx: { file: 'nginx.conf', write: nginx },
  apache: { file: 'apache.conf', write: apache },
  caddy: { file: 'Caddyfile', write: caddy },
  traefik: { file: 'traefik.yaml', write: traefik },
};

type Write = (options: SnippetOptions) => string;
