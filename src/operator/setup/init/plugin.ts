import { addKey } from '../../../config/edit-yaml.ts';
import type { LoadedConfig } from '../../../config/load.ts';
import { listAt, valueAt } from '../../../config/tree.ts';
import { hasGateway } from '../../../decisions/settings-checks.ts';
import type { TemplateView } from '../../../http/template.ts';
import type { Plugin } from '../names.ts';
import { configuredSnippet } from '../snippets/configured.ts';
import type { AskingGateway } from '../snippets/gateway.ts';
import { ASKING } from '../snippets/gateways.ts';
import { SENDING } from '../snippets/sending.ts';
import { type NewFile, treeOf } from './preset.ts';

/** Next to the configuration; only for a gateway that asks over TCP. */
export const DECISION_SECRET = 'decisions.secret';
const SOCKET = '/run/coursegate/decisions.sock';

/** @param plugin the value of `--plugin` */
export function pluginGateway(plugin: Plugin): AskingGateway {
  return ASKING.find((gateway) => 'plugin' in gateway && gateway.plugin === plugin) as AskingGateway;
}

/** What a gateway cannot do with a request that it forwards itself. */
const ONLY_HERE = ['rewrite', 'query', 'body', 'bodyLimit'];

/** Changes a configuration from `writeConfiguration`: the gateway asks about requests to routes, and forwards them. */
export function forGateway(configuration: string, { unixSockets }: AskingGateway): string {
  const decisions = unixSockets
    ? `{ address: unix:${SOCKET} }`
    : `{ address: 127.0.0.1:9092, secret: { file: ${DECISION_SECRET} } }`;
  const tree = treeOf(configuration);
  const isForwarded = (route: unknown) =>
    ONLY_HERE.every((key) => valueAt(route, [key]) === undefined) &&
    valueAt(tree, ['upstreams', String(valueAt(route, ['upstream'])), 'credential']) === undefined;
  return listAt(tree, ['routes'])
    .reduce<string>(
      (text, route, index) => (isForwarded(route) ? addKey(text, ['routes', index], 'forwardedBy', 'gateway') : text),
      addKey(configuration, ['listen'], 'decisions', decisions),
    )
    .replace(/^(\s*# +- \{ match: .*?) \}/gm, '$1, forwardedBy: gateway }');
}

/**
 * The files for web servers: those for each that sends requests to the gate or, with `plugin`, those for one that asks.
 * The latter need a route.
 */
export function webServerFiles(loaded: LoadedConfig, plugin: AskingGateway | undefined): readonly NewFile[] {
  const servers = plugin === undefined ? SENDING : hasGateway(loaded.config.routes) ? [plugin] : [];
  const secret = loaded.secrets.get('listen.decisions.secret') === undefined ? {} : { secret: true as const };
  return servers
    .flatMap(({ name }) => configuredSnippet(loaded, name).files)
    .map(({ name, text }) => ({ path: `proxy/${name}`, text, ...secret }));
}

/** How to put the web server or the gateway to work, for the template of the next steps. */
export function routingView(loaded: LoadedConfig, plugin: AskingGateway | undefined): TemplateView {
  const isRouted = hasGateway(loaded.config.routes);
  return {
    sending: plugin === undefined && new Intl.ListFormat('en-GB').format(SENDING.map(({ title }) => title)),
    isSite: loaded.config.site !== undefined,
    asking: plugin !== undefined && {
      ...{ name: plugin.name, title: plugin.title, unixSockets: plugin.unixSockets },
      socket: SOCKET,
      hasRoutes: isRouted,
      notes: isRouted ? configuredSnippet(loaded, plugin.name).notes : [],
    },
  };
}
