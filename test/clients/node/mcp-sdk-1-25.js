import { Client } from 'mcp-sdk-1-25/client/index.js';
import { StreamableHTTPClientTransport } from 'mcp-sdk-1-25/client/streamableHttp.js';
import { useMcp } from './support/mcp-session.js';
import { run, version } from './support/report.js';

await run(async () => {
  version('mcp-sdk-1-25');
  await useMcp('MCP SDK 1.25', {
    client: () => new Client({ name: 'matrix', version: '1.0.0' }),
    transport: (url, authProvider) => new StreamableHTTPClientTransport(url, { authProvider }),
    finish: (parameters) => parameters.get('code'),
  });
});
