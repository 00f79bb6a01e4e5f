import type { LoadedConfig } from '../../../config/load.ts';
import { programName } from '../../program-name.ts';
import type { Plugin } from '../names.ts';
import { configuredSnippet } from '../snippets/configured.ts';
import type { AskingGateway } from '../snippets/gateway.ts';
import { ASKING } from '../snippets/gateways.ts';
import { SENDING } from '../snippets/sending.ts';
import { forwardedByGateway, type NewFile } from './preset.ts';

/** Next to the configuration; only for a gateway that asks over TCP. */
export const DECISION_SECRET = 'decisions.secret';
const SOCKET = '/run/coursegate/decisions.sock';

/** @param plugin the value of `--plugin` */
export function pluginGateway(plugin: Plugin): AskingGateway {
  return ASKING.find((gateway) => 'plugin' in gateway && gateway.plugin === plugin) as AskingGateway;
}

/** Changes a configuration from `writeConfiguration`: the gateway asks about requests to routes, and forwards them. */
export function forGateway(configuration: string, { unixSockets }: AskingGateway): string {
  const decisions = unixSockets
    ? `{ address: unix:${SOCKET} }`
    : `{ address: 127.0.0.1:9092, secret: { file: ${DECISION_SECRET} } }`;
  return forwardedByGateway(configuration, decisions);
}

/**
 * The files for web servers: those for each that sends requests to the gate or, with `plugin`, those for one that asks.
 * The latter need a route.
 */
export function webServerFiles(loaded: LoadedConfig, plugin: AskingGateway | undefined): readonly NewFile[] {
  const servers = plugin === undefined ? SENDING : hasRoutes(loaded) ? [plugin] : [];
  const secret = loaded.secrets.get('listen.decisions.secret') === undefined ? {} : { secret: true as const };
  return servers
    .flatMap(({ name }) => configuredSnippet(loaded, name).files)
    .map(({ name, text }) => ({ path: `proxy/${name}`, text, ...secret }));
}

/** How to put the web server to work. */
export function webServerStep({ config }: LoadedConfig): readonly string[] {
  const titles = new Intl.ListFormat('en-GB').format(SENDING.map(({ title }) => title));
  const what =
    config.site === undefined
      ? `Route the paths: proxy/ has snippets for ${titles}.`
      : `Send every request to the gate: proxy/ has snippets for ${titles}, in place of what sends requests to the site.`;
  return [`  2. ${what} Then check the file and start the gate:`];
}

/** How to put the gateway to work. */
export function pluginStep(loaded: LoadedConfig, { name, title, unixSockets }: AskingGateway): readonly string[] {
  return [
    ...(hasRoutes(loaded)
      ? [
          `  2. Let ${title} ask and forward requests: install proxy/ as its first lines say. Then check the file and start the gate:`,
        ]
      : [
          `  2. Add routes with forwardedBy: gateway to coursegate.yaml. Then write the files for ${title}, and start the gate:`,
          `     ${programName()} snippets --config coursegate.yaml --for ${name} --dir proxy`,
        ]),
    ...(unixSockets ? [`     (It needs the folder of ${SOCKET}, and ${title} the right to write to the socket.)`] : []),
    ...(hasRoutes(loaded) ? configuredSnippet(loaded, name).notes.map((note) => `     (${note})`) : []),
  ];
}

function hasRoutes({ config }: LoadedConfig): boolean {
  return config.routes.some(({ forwardedBy }) => forwardedBy === 'gateway');
}
