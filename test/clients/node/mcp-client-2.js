import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { useMcp } from './support/mcp-session.js';
import { run, version } from './support/report.js';

/** Started with "auto", the client negotiates the revision of the protocol. By default it speaks the older ones. */
const options = process.argv[2] === 'auto' ? { versionNegotiation: { mode: 'auto' } } : {};

await run(async () => {
  version('@modelcontextprotocol/client');
  await useMcp('MCP client 2', {
    client: () => new Client({ name: 'matrix', version: '1.0.0' }, options),
    transport: (url, authProvider) => new StreamableHTTPClientTransport(url, { authProvider }),
    finish: (parameters) => parameters,
  });
});
