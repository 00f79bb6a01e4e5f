import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { useMcp } from './support/mcp-session.js';
import { run, version } from './support/report.js';

await run(async () => {
  version('@modelcontextprotocol/sdk');
  await useMcp('MCP SDK 1.32', {
    client: () => new Client({ name: 'matrix', version: '1.0.0' }),
    transport: (url, authProvider) => new StreamableHTTPClientTransport(url, { authProvider }),
    finish: (parameters) => parameters.get('code'),
  });
});
