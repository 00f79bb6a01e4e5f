import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { chooseTool } from './support/mcp-provider.js';
import { createHome } from './support/no-browser.js';
import { CALLBACK, expiry, MCP_URL, open, run, step, version } from './support/report.js';

const TOOL = fileURLToPath(new URL('../../../node_modules/.bin/mcp-inspector', import.meta.url));
const { env } = createHome();

await run(async () => {
  version('@modelcontextprotocol/inspector');
  const { tools } = await inspect('--method', 'tools/list');
  for (const name of ['discover', 'register', 'authorize', 'token', 'tools']) step(name);
  const call = ['--method', 'tools/call', '--tool-name', chooseTool(tools.map((tool) => tool.name))];
  await inspect(...call);
  step('call');
  await expiry();
  await inspect(...call);
  step('expired-and-refreshed');
});

/** Runs a command of the Inspector, which keeps its tokens in files. Returns its result. */
async function inspect(...args) {
  const fixed = ['--cli', `${MCP_URL}/member`, '--transport', 'http', '--format', 'json', '--callback-url', CALLBACK];
  const child = spawn(process.execPath, [TOOL, ...fixed, ...args], {
    env: { ...env, MCP_AUTO_OPEN_ENABLED: 'true', MCP_INSPECTOR_SECRET_STORE: 'file' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  let isAsked = false;
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
    const url = /navigate to: (\S+)\n/.exec(stderr)?.[1];
    if (url === undefined || isAsked) return;
    isAsked = true;
    open(url);
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`it ended with ${code}: ${stderr}`);
  return JSON.parse(stdout).result;
}
