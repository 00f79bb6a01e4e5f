import { apache } from './apache.ts';
import { caddy } from './caddy.ts';
import type { GatePaths } from './gate-paths.ts';
import { nginx } from './nginx.ts';
import { traefik } from './traefik.ts';

/** What a web server needs to send the gate its own paths and nothing else. */
export interface SnippetOptions {
  readonly paths: GatePaths;
  /** host:port at which the web server reaches the gate. */
  readonly gate: string;
  /** The public origin. */
  readonly origin: string;
  /** Header fields that identify a member to the backend. Requests that bypass the gate must not carry them. */
  readonly identityFields: readonly string[];
}

export const SNIPPETS: Readonly<Record<string, { readonly file: string; readonly write: Write }>> = {
  nginx: { file: 'nginx.conf', write: nginx },
  apache: { file: 'apache.conf', write: apache },
  caddy: { file: 'Caddyfile', write: caddy },
  traefik: { file: 'traefik.yaml', write: traefik },
};

type Write = (options: SnippetOptions) => string;
