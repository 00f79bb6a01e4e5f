import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import budgets from '../../bench/budgets.json' with { type: 'json' };
import manifest from '../../package.json' with { type: 'json' };
import { runCommand } from '../support/command.ts';

/** Dependencies that every gate loads. */
const ALWAYS = [
  'commander',
  'jose',
  'lru-cache',
  'negotiator',
  'oidc-provider',
  'pino',
  'prom-client',
  're2js',
  'undici',
  'yaml',
  'zod',
];

/** All dependencies, and the drivers that operators add. What they load in turn only counts in the number of modules. */
const PACKAGES = [...Object.keys(manifest.dependencies), 'mysql2', 'pg'];

const RECORD = new URL('../support/record-loads.ts', import.meta.url).href;
const DEMO = fileURLToPath(new URL('../../config/coursegate.yaml', import.meta.url));

const SMALL = `version: 1
profile: B
origin: http://localhost:8080
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

interface Loaded {
  readonly modules: number;
  /** Sorted, without those that every gate loads. */
  readonly packages: readonly string[];
}

/** Starts a gate with a change of the minimal configuration, and returns what it loads until it is ready. */
function loadedBy(name: string, change: (config: string) => string): Promise<Loaded> {
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, change(SMALL));
  return loadedFrom(file);
}

async function loadedFrom(file: string): Promise<Loaded> {
  const loads = join(folder, 'loads');
  const command = runCommand(['serve', '--config', file], {
    NODE_OPTIONS: `--import=${RECORD}`,
    LOADS: loads,
    PORT: '0',
    ADMIN_PORT: '0',
    COURSEGATE_DATA: mkdtempSync(join(folder, 'data-')),
  });
  try {
    await command.line(/^coursegate ready/);
  } finally {
    command.signal('SIGTERM');
  }
  expect(await command.exited).toBe(0);
  const urls = [...new Set(readFileSync(loads, 'utf8').split('\n'))];
  rmSync(loads);
  const packages = PACKAGES.filter((name) => urls.some((url) => url.includes(`/node_modules/${name}/`))).sort();
  expect(packages).toEqual(expect.arrayContaining(ALWAYS));
  // The console is loaded with the first request for one of its pages.
  expect(urls.filter((url) => url.includes('/src/operator/console/'))).toEqual([]);
  return { modules: urls.length, packages: packages.filter((name) => !ALWAYS.includes(name)) };
}

describe('a gate loads', () => {
  it('no optional package with a minimal configuration, and few modules', async () => {
    const { packages, modules } = await loadedBy('small', (config) => config);
    expect(packages).toEqual([]);
    expect(modules).toBeLessThanOrEqual(budgets.modulesOfSmallest.most);
  });

  it('the packages of the Account API and the tools with the configuration of the demo', async () => {
    const { packages, modules } = await loadedFrom(DEMO);
    expect(packages).toEqual(['@lezer/markdown', '@modelcontextprotocol/server', 'entities', 'graphql', 'parse5']);
    expect(modules).toBeLessThanOrEqual(budgets.modulesOfDemo.most);
  });

  it('the MCP packages when there are tools, but not those of the Account API', async () => {
    writeFileSync(
      join(folder, 'tools.yaml'),
      'tools:\n  - { name: a, title: T, description: D, input: { properties: {} }, get: { upstream: school, path: /x } }\n',
    );
    const { packages } = await loadedBy('agents', (config) => `${config}mcp: { file: tools.yaml }\n`);
    // The two parsers read the texts of tools.
    expect(packages).toEqual(['@lezer/markdown', '@modelcontextprotocol/server', 'entities', 'parse5']);
  });

  it('the HTML parser when members sign in with a form', async () => {
    const form = 'login: { kind: form, upstream: school, page: /login, whoami: { path: /api/me } }';
    const { packages } = await loadedBy('form', (config) => config.replace(/^login: .*$/m, form));
    // parse5 loads it.
    expect(packages).toEqual(['entities', 'parse5']);
  });
});
