import { McpServer } from '@modelcontextprotocol/server';
import type { ServerFactory } from '../../../../src/mcp/server.ts';
import { registerAskingTools } from './asking-tools.ts';
import { registerContentTools } from './content-tools.ts';
import { registerInputTools } from './input-tools.ts';
import { registerPrompts } from './prompts.ts';
import { registerResources } from './resources.ts';
import { states } from './states.ts';

/**
 * The tools, resources and prompts that the conformance suite expects of a server, from the descriptions in its
 * scenarios. They replace the configured tools, behind the same endpoint, limits and handler.
 */
export const fixtureServer: ServerFactory = (_, era) => {
  const legacy = era === 'legacy';
  const server = new McpServer(
    { name: 'conformance-fixtures', version: '1' },
    {
      capabilities: {
        tools: { listChanged: false },
        // Revision 2026-07-28 has nothing to subscribe to at our endpoint, so only earlier revisions are offered
        // subscriptions.
        resources: { listChanged: false, subscribe: legacy },
        prompts: { listChanged: false },
        completions: {},
        ...(legacy ? { logging: {} } : {}),
      },
      cacheHints: Object.fromEntries(
        ['server/discover', 'tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'].map((list) => [
          list,
          { ttlMs: 1000, cacheScope: 'public' as const },
        ]),
      ),
      requestState: { verify: states.verify },
    },
  );
  registerContentTools(server);
  registerAskingTools(server);
  registerInputTools(server);
  registerResources(server, legacy);
  registerPrompts(server);
  return server;
};
