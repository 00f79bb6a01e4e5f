import manifest from '../../../../package.json' with { type: 'json' };
import { isHtml, jsonObject, type SiteAnswer } from '../answer.ts';
import type { Question } from '../ask.ts';
import type { ExaminedSite } from '../site.ts';
import { Unavailable } from '../unavailable.ts';
import type { ExaminedMcpEndpoint } from './facts.ts';

const CLIENT_INFO = { name: 'coursegate-doctor', version: manifest.version };

/** The first request of an MCP client (MCP 2025-11-25, Lifecycle). */
export const INITIALIZE: Question = mcpQuestion('initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: CLIENT_INFO,
});

/** A request of a 2025-11-25 client. */
export function mcpQuestion(method: string, params?: object, headers: Question['headers'] = {}): Question {
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  };
}

/** The first request of a 2026-07-28 client. There is no handshake: every request is self-contained. */
export const DISCOVER: Question = mcpQuestion(
  'server/discover',
  {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
      'io.modelcontextprotocol/clientInfo': CLIENT_INFO,
    },
  },
  { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'server/discover' },
);

/** Tries the given address, then /mcp. A page or a 404 is not MCP, but a product blocking the way may hide it. */
export async function findMcp(site: ExaminedSite): Promise<ExaminedMcpEndpoint> {
  for (const path of new Set([site.path || '/mcp', '/mcp'])) {
    const url = `${site.origin}${path}`;
    const answer = await site.ask(url, INITIALIZE);
    if (speaksMcp(answer) || (path === site.path && answer.status !== 404)) return { url, answer };
  }
  throw new Unavailable('no MCP endpoint was found: pass its address if it is not at /mcp');
}

/** Whether a response comes from a JSON-RPC server, or from something that guards one. */
function speaksMcp(answer: SiteAnswer): boolean {
  if (isHtml(answer)) return [401, 403, 406, 429, 500, 502, 503].includes(answer.status);
  return answer.status !== 404 || jsonObject(answer)?.jsonrpc === '2.0';
}
