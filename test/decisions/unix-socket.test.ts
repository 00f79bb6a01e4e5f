import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { startWorld, type World } from '../support/world.ts';

const folder = mkdtempSync(join(tmpdir(), 'coursegate-socket-'));
const path = join(folder, 'decisions.sock');
let running: World | undefined;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const world = () =>
  startWorld({
    profile: 'B',
    overrides: {
      listen: { decisions: { address: `unix:${path}` } },
      routes: [{ match: 'GET /open/**', upstream: 'school', anonymous: 'serve', forwardedBy: 'gateway' }],
    },
  });

function decision(host: string, more: Readonly<Record<string, string>> = {}): Promise<number> {
  const headers = { 'X-Original-Method': 'GET', 'X-Original-Host': host, 'X-Original-URI': '/open/x', ...more };
  return new Promise((resolve, reject) => {
    httpRequest({ socketPath: path, path: '/decide/haproxy', headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

describe('the decision listener on a Unix socket', () => {
  it('replaces a socket that a killed process has left, but not one that is in use', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(path, resolve));
    await expect(world()).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await new Promise((resolve) => other.close(resolve));
    await leaveBehind();
    expect(existsSync(path)).toBe(true);
    running = await world();
    expect(await decision(new URL(running.origin).host)).toBe(200);
  });

  it('is for its owner and their group', () => {
    expect(statSync(path).mode & 0o777).toBe(0o660);
  });

  it('removes its socket when it stops', async () => {
    await running?.close();
    expect(existsSync(path)).toBe(false);
  });
});

/** Leaves a socket file as a killed process does: node:net removes its own, so another process has to be killed. */
async function leaveBehind(): Promise<void> {
  const script = `require('net').createServer().listen(${JSON.stringify(path)}, () => console.log(1))`;
  const child = spawn(process.execPath, ['-e', script]);
  await new Promise((resolve) => child.stdout.once('data', resolve));
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('exit', resolve));
}
