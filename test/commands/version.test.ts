import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { runToEnd } from '../support/operator.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

it('--version prints the version of package.json', async () => {
  expect(await runToEnd(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
});

it('the doctor sends the same version in its requests and as an MCP client', async () => {
  const agents = new Set<string | undefined>();
  let bodies = '';
  const site = createServer((request, response) => {
    agents.add(request.headers['user-agent']);
    request.on('data', (chunk: Buffer) => {
      bodies += chunk.toString();
    });
    request.on('end', () => response.writeHead(404).end());
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/mcp`;
    await runToEnd(['doctor', url, '--json', '--timeout', '20']);
    expect([...agents].some((agent) => agent?.startsWith(`coursegate-doctor/${version} `))).toBe(true);
    expect(bodies).toContain(`"clientInfo":{"name":"coursegate-doctor","version":"${version}"}`);
  } finally {
    site.close();
  }
});
