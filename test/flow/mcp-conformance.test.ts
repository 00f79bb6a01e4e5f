import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerApp } from '../support/app.ts';
import { approve } from '../support/member.ts';
import { freePort, startWorld, type World } from '../support/world.ts';

const TOOL = fileURLToPath(new URL('../../node_modules/.bin/conformance', import.meta.url));

/**
 * Runs the MCP project's own suite against the gate as an authorization server; a member approves at the URL it prints.
 */
async function runSuite(world: World, resource: string): Promise<{ code: number | null; output: string }> {
  const port = await freePort();
  const redirectUri = `http://127.0.0.1:${port}/callback`;
  const { client } = await registerApp(world.origin, { redirectUri });
  const suite = spawn(
    process.execPath,
    [
      TOOL,
      'authorization',
      '--url',
      world.origin,
      '--client-id',
      client.client_id,
      '--resource',
      resource,
      '--port',
      String(port),
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  let approved: Promise<unknown> | undefined;
  const read = (chunk: Buffer) => {
    output += chunk.toString();
    const url = /https?:\/\/\S*\/oauth\/authorize\S*/.exec(output)?.[0];
    if (url !== undefined && output.includes('\n', output.indexOf(url))) {
      approved ??= approve(url, redirectUri).then((returned) => fetch(returned));
    }
  };
  suite.stdout.on('data', read);
  suite.stderr.on('data', read);
  const code = await new Promise<number | null>((resolve) => suite.once('close', resolve));
  await approved;
  return { code, output };
}

describe.each([{ profile: 'A' }, { profile: 'B' }])(
  'MCP authorization conformance, Profile $profile',
  ({ profile }) => {
    let world: World;
    beforeAll(async () => {
      world = await startWorld({ profile });
    });
    afterAll(() => world.close());

    const spellings = profile === 'A' ? ['', '/', '/account/graphql', '/mcp'] : ['', '/', '/mcp'];
    it.each(spellings)('passes every check with the resource spelled as the origin plus "%s"', async (suffix) => {
      const { code, output } = await runSuite(world, `${world.origin}${suffix}`);
      expect(output).toMatch(/3 passed/);
      expect(output).not.toMatch(/[1-9]\d* failed/);
      expect(code).toBe(0);
    });
  },
);
