import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../support/command.ts';
import { freePort } from '../support/world.ts';

/** Packages that are slow to load and that only some configurations need. */
const HEAVY = [
  '@modelcontextprotocol/server',
  'bcryptjs',
  'graphql',
  'ioredis',
  'mysql2',
  'oauth4webapi',
  'parse5',
  'pg',
  'rate-limiter-flexible',
  'ws',
] as const;

const RECORD = new URL('../support/record-loads.ts', import.meta.url).href;

const SMALL = `version: 1
profile: B
origin: http://localhost:PORT
listen: { port: PORT, admin: { port: 0 } }
store: { kind: sqlite, path: data/gate.db }
login: { kind: session, upstream: school, whoami: { path: /api/me }, loginUrl: /login, cookies: [school_session] }
upstreams: { school: { url: http://127.0.0.1:9 } }
site: { upstream: school }
`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'coursegate-loads-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Starts a gate, stops it when it is ready, and returns which of the heavy packages it has loaded. */
async function loadedBy(name: string, change: (config: string) => string): Promise<string[]> {
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, change(SMALL).replaceAll('PORT', String(await freePort())));
  const loads = join(folder, `${name}.loads`);
  const command = runCommand(['serve', '--config', file], { NODE_OPTIONS: `--import=${RECORD}`, LOADS: loads });
  try {
    await command.line(/^coursegate ready/);
  } finally {
    command.signal('SIGTERM');
  }
  expect(await command.exited).toBe(0);
  const urls = readFileSync(loads, 'utf8').split('\n');
  // Proves that loading was recorded: these are modules that every gate loads.
  for (const needed of ['/node_modules/oidc-provider/', '/node_modules/zod/', '/src/process/gateway.ts']) {
    expect(
      urls.some((url) => url.includes(needed)),
      needed,
    ).toBe(true);
  }
  return HEAVY.filter((heavy) => urls.some((url) => url.includes(`/node_modules/${heavy}/`)));
}

describe('a gate loads', () => {
  it('no optional package with a minimal configuration', async () => {
    expect(await loadedBy('small', (config) => config)).toEqual([]);
  });

  it('the MCP packages when there are tools, but not those of the Account API', async () => {
    writeFileSync(
      join(folder, 'tools.yaml'),
      'tools:\n  - { name: a, title: T, description: D, input: { properties: {} }, get: { upstream: school, path: /x } }\n',
    );
    expect(await loadedBy('agents', (config) => `${config}mcp: { file: tools.yaml }\n`)).toEqual([
      '@modelcontextprotocol/server',
      // Reads the HTML in tool texts.
      'parse5',
    ]);
  });

  it('the HTML parser when members sign in with a form', async () => {
    const form = 'login: { kind: form, upstream: school, page: /login, whoami: { path: /api/me } }';
    expect(await loadedBy('form', (config) => config.replace(/^login: .*$/m, form))).toEqual(['parse5']);
  });
});
