import type { JsonRequest } from '../support/client.ts';

const VERSION = '2026-07-28';
const META = {
  'io.modelcontextprotocol/protocolVersion': VERSION,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
};
const CALL = { name: 'search_courses', arguments: {} };
const ACCEPT = 'application/json, text/event-stream';

const common = { path: '/mcp', failed: '"isError"' };
const modern = (method: string, params: { name?: string }): JsonRequest => ({
  ...common,
  headers: {
    accept: ACCEPT,
    'mcp-protocol-version': VERSION,
    'mcp-method': method,
    ...(params.name === undefined ? {} : { 'mcp-name': params.name }),
  },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: META } }),
});
const legacy = (method: string, params: object): JsonRequest => ({
  ...common,
  headers: { accept: ACCEPT, 'mcp-protocol-version': '2025-11-25' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
});

/** The tools are listed, and one is called, by clients of both revisions. */
export const MCP_REQUESTS = {
  'tools/list, 2026-07-28': modern('tools/list', {}),
  'tools/call, 2026-07-28': modern('tools/call', CALL),
  'tools/list, 2025-11-25': legacy('tools/list', {}),
  'tools/call, 2025-11-25': legacy('tools/call', CALL),
} as const;
