import { spellings } from './forged-names.ts';
import { type GatePaths, oneExpression } from './gate-paths.ts';
import type { WebServer } from './gateway.ts';
import { gatewayFile, inSingleQuotes } from './gateway-file.ts';
import { quoted, variableName } from './nginx-text.ts';

/** What a web server needs to send the gate its own paths, and with `everything` all others. */
export interface SendingPlan {
  /** See `endOfNames`. */
  readonly of: string;
  readonly paths: GatePaths;
  /** Whether every other request goes to the gate too, which passes it to the site. */
  readonly everything: boolean;
  /** host:port at which the web server reaches the gate. */
  readonly gate: string;
  /** The public origin. */
  readonly origin: string;
  /** Header fields that identify a member to the backend. Requests that bypass the gate must not carry them. */
  readonly identityFields: readonly string[];
}

/** A web server that sends the gate its requests. */
interface SendingServer extends WebServer {
  /** The name of its one file. */
  readonly file: string;
  readonly write: (plan: SendingPlan) => string;
}

export const SENDING = [
  {
    name: 'nginx',
    title: 'nginx',
    file: 'nginx.conf',
    write: (plan) => gatewayFile('nginx/proxy.conf', { ...viewOf(plan), locations: nginxLocations(plan) }),
  },
  {
    name: 'apache',
    title: 'Apache',
    file: 'apache.conf',
    // For a VirtualHost. mod_proxy takes precedence over files, PHP and .htaccess, and passes the URL on unchanged.
    write: (plan) => gatewayFile('apache/proxy.conf', viewOf(plan), (text) => text.replaceAll('"', '\\"')),
  },
  {
    name: 'caddy',
    title: 'Caddy',
    file: 'Caddyfile',
    // Caddy sets X-Forwarded-* itself, and accepts none from untrusted clients. So does Traefik.
    write: (plan) => gatewayFile('caddy/proxy.Caddyfile', viewOf(plan)),
  },
  {
    name: 'traefik',
    title: 'Traefik',
    file: 'traefik.yaml',
    write: (plan) => {
      const { hostname, protocol } = new URL(plan.origin);
      const view = { ...viewOf(plan), hostname, tls: protocol === 'https:' };
      return gatewayFile('traefik/proxy.yaml', view, inSingleQuotes);
    },
  },
] as const satisfies readonly SendingServer[];

/** What the files of all of them are filled in with. */
function viewOf({ of, paths, everything, gate, identityFields }: SendingPlan) {
  return {
    of,
    head: everything
      ? '# coursegate: every request goes to it, and it passes on to the site what is not its own.'
      : '# coursegate: its own addresses and the routes it protects. Everything else stays as it is.',
    everything,
    gate,
    /** The paths of requests that go to the gate. */
    expression: everything ? '^(/.*)$' : oneExpression(paths),
    /** Whether requests that bypass the gate need a guard. */
    guarded: identityFields.length > 0,
    identity: identityFields.map((name) => ({ name, variable: variableName(name) })),
    /** For web servers that pass on all of them. */
    spellings: identityFields.flatMap((name) => spellings(name.toLowerCase())),
  };
}

/**
 * `=` and `^~` take precedence over regular expressions such as the one for .php. With `everything`, the gate's own paths
 * are listed too: a longer prefix of the site would win over `/`.
 */
function nginxLocations({ paths, everything }: SendingPlan): readonly string[] {
  return [
    ...paths.exact.map((path) => `= ${quoted(path)}`),
    ...paths.under.map((path) => `^~ ${quoted(path)}`),
    ...paths.patterns.map((pattern) => `~ ${quoted(`^${pattern}$`)}`),
    ...(everything && !paths.under.includes('/') ? ['^~ "/"'] : []),
  ];
}
