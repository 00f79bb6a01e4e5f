import type { Config } from '../../../config/schema.ts';
import { IDENTITY_FIELDS } from '../../../http/identity-fields.ts';
import { publicPaths } from '../../../request/public-paths.ts';
import { spellings } from './forged-names.ts';
import { type GatePaths, gatePaths, oneExpression } from './gate-paths.ts';
import type { WebServer } from './gateway.ts';
import { gatewayFile, inSingleQuotes } from './gateway-file.ts';
import { quoted, variableName } from './nginx-text.ts';

/** A web server that sends the gate its requests, by one file. */
interface SendingServer extends WebServer {
  readonly file: string;
  /** In `integrations/gateways`. */
  readonly template: string;
  /** Writes a value within its quotes. */
  readonly quoted?: (text: string) => string;
}

const inApache = (text: string): string => text.replaceAll('"', '\\"');

/** Caddy and Traefik set X-Forwarded-* themselves, and accept none from untrusted clients. */
export const SENDING = [
  { name: 'nginx', title: 'nginx', file: 'nginx.conf', template: 'nginx/proxy.conf' },
  // For a VirtualHost. mod_proxy takes precedence over files, PHP and .htaccess, and passes the URL on unchanged.
  { name: 'apache', title: 'Apache', file: 'apache.conf', template: 'apache/proxy.conf', quoted: inApache },
  { name: 'caddy', title: 'Caddy', file: 'Caddyfile', template: 'caddy/proxy.Caddyfile' },
  { name: 'traefik', title: 'Traefik', file: 'traefik.yaml', template: 'traefik/proxy.yaml', quoted: inSingleQuotes },
] as const satisfies readonly SendingServer[];

/**
 * What a web server needs to send the gate its own paths, and with `site` all others, which the gate passes on.
 * @param gate host:port at which the web server reaches the gate
 * @param of see `endOfNames`
 */
export function sendingFile(server: SendingServer, config: Config, gate: string, of: string): string {
  const paths = gatePaths(publicPaths(config));
  const everything = config.site !== undefined;
  const { hostname, protocol } = new URL(config.origin);
  /** Header fields that identify a member to the backend. Requests that bypass the gate must not carry them. */
  const named = Object.values(config.upstreams).some(({ identity }) => identity.includes('headers'));
  const fields = named ? IDENTITY_FIELDS : [];
  const view = {
    of,
    head: everything
      ? '# coursegate: every request goes to it, and it passes on to the site what is not its own.'
      : '# coursegate: its own addresses and the routes it protects. Everything else stays as it is.',
    everything,
    gate,
    hostname,
    tls: protocol === 'https:',
    /** The paths of requests that go to the gate. */
    expression: everything ? '^(/.*)$' : oneExpression(paths),
    locations: nginxLocations(paths, everything),
    /** Whether requests that bypass the gate need a guard. */
    guarded: named,
    identity: fields.map((name) => ({ name, variable: variableName(name) })),
    /** For web servers that pass on all of them. */
    spellings: fields.flatMap((name) => spellings(name.toLowerCase())),
  };
  return gatewayFile(server.template, view, server.quoted);
}

/**
 * `=` and `^~` take precedence over regular expressions such as the one for .php. With `everything`, the gate's own paths
 * are listed too: a longer prefix of the site would win over `/`.
 */
function nginxLocations({ exact, under, patterns }: GatePaths, everything: boolean): readonly string[] {
  return [
    ...exact.map((path) => `= ${quoted(path)}`),
    ...under.map((path) => `^~ ${quoted(path)}`),
    ...patterns.map((pattern) => `~ ${quoted(`^${pattern}$`)}`),
    ...(everything && !under.includes('/') ? ['^~ "/"'] : []),
  ];
}
