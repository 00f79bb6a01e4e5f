import { ENDPOINTS } from '../authorization-server/endpoints.ts';
import { type McpView, mcpPage } from '../authorization-server/pages/mcp.ts';
import type { Pages } from '../authorization-server/pages/pages.ts';
import type { Config } from '../config/schema.ts';
import { DISCOVERY_PATHS } from '../discovery/paths.ts';
import type { Handler } from '../http/exchange.ts';
import type { Mcp } from '../mcp/mcp.ts';

/** The page that a browser gets at the addresses for assistants, which programs get 405 from. */
export function mcpPageHandler(
  { origin, pages: { origin: apart = '' } }: Config,
  { endpoints, tools }: Mcp,
  pages: Pages,
): Handler {
  const { resource: address } = endpoints.member.plain.resource;
  const hasPublicTools = tools.some(({ scopes }) => scopes.size === 0);
  const view: McpView = {
    address,
    open: hasPublicTools ? endpoints.open.plain.resource.resource : undefined,
    commands: commandsFor(nameOf(origin), address),
    documentation: DISCOVERY_PATHS.authMd,
    connectedApps: apart + ENDPOINTS.apps,
  };
  return ({ response }) => pages.send(response, 200, (words) => mcpPage(words, view), { vary: 'Accept' });
}

function commandsFor(name: string, url: string): McpView['commands'] {
  return [
    { program: 'Claude Code', command: `claude mcp add --transport http ${name} ${url}` },
    { program: 'Codex', command: `codex mcp add ${name} --url ${url}` },
    { program: 'VS Code', command: `code --add-mcp '${JSON.stringify({ name, type: 'http', url })}'` },
    { program: 'Cursor (mcp.json)', command: JSON.stringify({ mcpServers: { [name]: { url } } }) },
  ];
}

/** A name for the connection that every program takes: letters, digits and hyphens. */
function nameOf(origin: string): string {
  return new URL(origin).hostname.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
}
