import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { chooseTool } from './support/mcp-provider.js';
import { createHome } from './support/no-browser.js';
import { expiry, MCP_URL, open, run, step, version } from './support/report.js';

const PROXY = fileURLToPath(new URL('node_modules/mcp-remote/dist/proxy.js', import.meta.url));

// As in the configuration of an assistant that only speaks stdio: npx mcp-remote https://school.example/mcp/member
await run(async () => {
  version('mcp-remote');
  const { home, env } = createHome();
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROXY, `${MCP_URL}/member`],
    env: { ...env, MCP_REMOTE_CONFIG_DIR: home },
    stderr: 'pipe',
  });
  let log = '';
  let isAsked = false;
  transport.stderr.on('data', (chunk) => {
    log += chunk;
    process.stderr.write(chunk);
    const url = /authorize this client by visiting:\s+(http\S+)/.exec(log)?.[1];
    if (url === undefined || isAsked) return;
    isAsked = true;
    open(url);
  });
  const client = new Client({ name: 'matrix', version: '1.0.0' });
  await client.connect(transport, { timeout: 60_000 });
  for (const name of ['discover', 'register', 'authorize', 'token']) step(name);
  const { tools } = await client.listTools();
  step('tools');
  const call = async () => {
    const result = await client.callTool({ name: chooseTool(tools.map((tool) => tool.name)), arguments: {} });
    if (result.isError) throw new Error(JSON.stringify(result.content));
  };
  await call();
  step('call');
  await expiry();
  await call();
  step('expired-and-refreshed');
  await client.close();
});
