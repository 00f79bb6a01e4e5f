import type { LoadedConfig } from '../../../config/load.ts';
import { programName } from '../../program-name.ts';
import { type Plugin, SERVERS, type Server } from '../names.ts';
import { configuredSnippet } from '../snippets/configured.ts';
import { SNIPPETS } from '../snippets/snippet.ts';
import { forwardedByGateway, type NewFile } from './preset.ts';

/** A gateway that asks and forwards requests itself. */
interface PluginGateway {
  /** As operators know it. */
  readonly name: string;
  /** Its key in `SNIPPETS`. */
  readonly snippet: Server;
  /** Whether it can ask over a Unix socket. */
  readonly unixSockets: boolean;
}

/** By the value of `--plugin`. */
const GATEWAYS: Readonly<Record<Plugin, PluginGateway>> = {
  nginx: { name: 'nginx', snippet: 'nginx-auth', unixSockets: true },
  caddy: { name: 'Caddy', snippet: 'caddy-auth', unixSockets: true },
  traefik: { name: 'Traefik', snippet: 'traefik-auth', unixSockets: false },
  haproxy: { name: 'HAProxy', snippet: 'haproxy', unixSockets: true },
  envoy: { name: 'Envoy', snippet: 'envoy', unixSockets: true },
};

/** Next to the configuration; only for a gateway that asks over TCP. */
export const DECISION_SECRET = 'decisions.secret';
const SOCKET = '/run/coursegate/decisions.sock';

export function pluginGateway(name: Plugin): PluginGateway {
  return GATEWAYS[name];
}

/** Changes a configuration from `writeConfiguration`: the gateway asks about requests to routes, and forwards them. */
export function forGateway(configuration: string, { unixSockets }: PluginGateway): string {
  const decisions = unixSockets
    ? `{ address: unix:${SOCKET} }`
    : `{ address: 127.0.0.1:9092, secret: { file: ${DECISION_SECRET} } }`;
  return forwardedByGateway(configuration, decisions);
}

/**
 * The files for web servers: those for each that sends requests to the gate or, with `plugin`, those for one that asks.
 * The latter need a route.
 */
export function webServerFiles(loaded: LoadedConfig, plugin: PluginGateway | undefined): readonly NewFile[] {
  const names =
    plugin === undefined
      ? SERVERS.filter((name) => typeof SNIPPETS[name] === 'object')
      : hasRoutes(loaded)
        ? [plugin.snippet]
        : [];
  const secret = loaded.secrets.get('listen.decisions.secret') === undefined ? {} : { secret: true as const };
  return names
    .flatMap((name) => configuredSnippet(loaded, name).files)
    .map(({ name, text }) => ({ path: `proxy/${name}`, text, ...secret }));
}

/** How to put the web server to work. */
export function webServerStep({ config }: LoadedConfig): readonly string[] {
  const what =
    config.site === undefined
      ? 'Route the paths: proxy/ has snippets for nginx, Apache, Caddy and Traefik.'
      : 'Send every request to the gate: proxy/ has snippets for nginx, Apache, Caddy and Traefik, in place of what sends requests to the site.';
  return [`  2. ${what} Then start the gate:`];
}

/** How to put the gateway to work. */
export function pluginStep(loaded: LoadedConfig, { name, snippet, unixSockets }: PluginGateway): readonly string[] {
  return [
    ...(hasRoutes(loaded)
      ? [`  2. Let ${name} ask and forward requests: install proxy/ as its first lines say. Then start the gate:`]
      : [
          `  2. Add routes with forwardedBy: gateway to coursegate.yaml. Then write the files for ${name}, and start the gate:`,
          `     ${programName()} snippets --config coursegate.yaml --for ${snippet} --dir proxy`,
        ]),
    ...(unixSockets ? [`     (It needs the folder of ${SOCKET}, and ${name} the right to write to the socket.)`] : []),
  ];
}

function hasRoutes({ config }: LoadedConfig): boolean {
  return config.routes.some(({ forwardedBy }) => forwardedBy === 'gateway');
}
