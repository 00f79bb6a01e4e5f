import type { McpConfig, ToolConfig } from '../config/schema.ts';
import { describe } from './build-tools.ts';
import type { ToolDescriptor } from './tool.ts';

/** How the configured tools are described to clients, for programs that do not run them. */
export function configuredTools(mcp: McpConfig | undefined): readonly ToolDescriptor[] {
  return (mcp?.tools ?? []).map((tool) => describe(tool, readsOnly(tool), false, undefined));
}

/** Whether the action of a tool only reads, as far as its text shows. The gate asks the action itself. */
function readsOnly({ graphql, route, server, annotations }: ToolConfig): boolean {
  if (server !== undefined) return annotations.readOnlyHint === true;
  if (graphql !== undefined) return !/^\s*(#[^\n]*\n\s*)*mutation\b/.test(graphql);
  return route === undefined || route.startsWith('GET ');
}
