import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderWith, SMALL } from '../config/fixture.ts';
import { runCommand } from '../support/command.ts';

const GOOD = `${SMALL}listen: { trustedProxies: [loopback] }
routes:
  - { match: "GET /api/v1/**", upstream: school, scopes: [courses:read] }
`;
/** One warning: nothing is named in front. */
const WARNED = GOOD.replace('listen: { trustedProxies: [loopback] }\n', '');
/** Two mistakes, on lines 4 and 8. */
const BAD = GOOD.replace('data/gate.db', '""').replace('/api/me', 'api/me');

const MAPPED = `version: 1
profile: A
origin: http://localhost:8080
login: { kind: session, upstream: school, whoami: { path: /api/me }, loginUrl: /login, cookies: [s] }
store: { kind: sqlite, path: data/gate.db }
site: { upstream: school }
upstreams: { school: { url: "http://127.0.0.1:9" } }
account: { schema: contract.graphql, mappings: map.graphql }
`;
const CONTRACT = 'scalar DateTime type Query { viewer: Viewer! } type Viewer { id: ID! at: DateTime }';
/** One warning: local times, and no time zone. */
const MAPPING = `extend schema @source(name: "school") extend type Viewer { at: DateTime
  @connect(source: "school", http: { GET: "/me" }, selection: "$.at->toDateTime('sql')") }`;

/** Out: the exit code of a command that ends by itself, and all that it printed. */
async function ended(args: readonly string[]) {
  const command = runCommand(args);
  const code = await command.exited;
  return { code, stdout: command.stdout(), stderr: command.stderr() };
}

async function check(text: string, ...options: readonly string[]) {
  const folder = await folderWith({ 'gate.yaml': text, 'contract.graphql': CONTRACT, 'map.graphql': MAPPING });
  const file = join(folder, 'gate.yaml');
  const { code, stdout, stderr } = await ended(['check', file, ...options]);
  const plain = (printed: string) => printed.replaceAll(file, 'gate.yaml');
  return { code, stdout: plain(stdout), stderr: plain(stderr) };
}

describe('coursegate check', () => {
  it('reports a valid file on standard output', async () => {
    expect(await check(GOOD)).toEqual({
      code: 0,
      stdout: 'gate.yaml: valid. 1 route, profile B, origin https://school.example\n',
      stderr: '',
    });
  });

  it('reports warnings on standard error, and still exits 0', async () => {
    const { code, stdout, stderr } = await check(WARNED);
    expect(code).toBe(0);
    expect(stdout).toBe('gate.yaml: valid, with 1 warning. 1 route, profile B, origin https://school.example\n');
    expect(stderr).toMatch(
      /^gate\.yaml:1:1 {2}warning: listen\.trustedProxies: is empty, .*\n {5}1 \| version: 1\n {7}\| \^\n$/,
    );
  });

  it('reports warnings about a mapping with its line', async () => {
    const { code, stdout, stderr } = await check(MAPPED, '--strict');
    expect([code, stdout]).toEqual([78, expect.stringContaining('gate.yaml: valid, with 1 warning.')]);
    expect(stderr).toMatch(/^map\.graphql:2:\d+ {2}warning: Viewer\.at: reads local times as UTC, because .*\n$/);
  });

  it('treats warnings as errors with --strict', async () => {
    expect((await check(WARNED, '--strict')).code).toBe(78);
    expect((await check(GOOD, '--strict')).code).toBe(0);
  });

  it('reports every mistake with its position, and exits 78', async () => {
    const { code, stdout, stderr } = await check(BAD);
    expect(code).toBe(78);
    expect(stdout).toBe('');
    expect(stderr).toContain('gate.yaml:4:30  store.path: must not be empty\n');
    expect(stderr).toContain('gate.yaml:8:19  login.whoami.path: must begin with /\n');
  });
});

describe('coursegate check --format json', () => {
  it('prints all mistakes as JSON', async () => {
    const { code, stdout, stderr } = await check(BAD, '--format', 'json');
    expect(code).toBe(78);
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({
      file: 'gate.yaml',
      ok: false,
      problems: [
        { severity: 'error', file: 'gate.yaml', line: 4, column: 30, path: 'store.path', message: 'must not be empty' },
        {
          severity: 'error',
          file: 'gate.yaml',
          line: 8,
          column: 19,
          path: 'login.whoami.path',
          message: 'must begin with /',
        },
      ],
    });
  });

  it('prints a summary of the configuration and its warnings', async () => {
    const { code, stdout } = await check(WARNED, '--format', 'json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      profile: 'B',
      origin: 'https://school.example',
      routes: 1,
      problems: [{ severity: 'warning', line: 1, column: 1, path: 'listen.trustedProxies' }],
    });
  });
});

describe('coursegate check --format github', () => {
  it('prints a workflow command for each mistake', async () => {
    const { code, stdout } = await check(BAD, '--format', 'github');
    expect(code).toBe(78);
    expect(stdout).toBe(
      '::error file=gate.yaml,line=4,col=30,title=coursegate check::store.path: must not be empty\n' +
        '::error file=gate.yaml,line=8,col=19,title=coursegate check::login.whoami.path: must begin with /\n',
    );
  });

  it('escapes characters that would end a command early', async () => {
    const text = GOOD.replace('[courses:read]', '["a%0Ab"]');
    const { stdout } = await check(text, '--format', 'github');
    expect(stdout).toBe(
      '::error file=gate.yaml,line=16,col=59,title=coursegate check::routes[0].scopes[0]: there is no scope "a%250Ab" in the catalogue\n',
    );
    const folder = await folderWith({ 'a,b:c.yaml': BAD });
    const odd = await ended(['check', join(folder, 'a,b:c.yaml'), '--format', 'github']);
    expect(odd.stdout).toMatch(/^::error file=[^,:]*\/a%2Cb%3Ac\.yaml,line=4,col=30,/);
    const { stdout: warned } = await check(WARNED, '--format', 'github');
    expect(warned).toMatch(/^::warning file=gate\.yaml,line=1,col=1,title=coursegate check::listen\.trustedProxies: /);
  });

  it('is one of three formats', async () => {
    const { code, stderr } = await check(GOOD, '--format', 'xml');
    expect(code).toBe(64);
    expect(stderr).toContain('text, json, github');
  });
});

describe('coursegate config print', () => {
  async function print(...words: readonly string[]) {
    const folder = await folderWith({ 'gate.yaml': GOOD });
    const file = join(folder, 'gate.yaml');
    const { code, stdout, stderr } = await ended(['config', 'print', ...words, '--config', file]);
    return { code, stdout: stdout.replaceAll(file, 'gate.yaml'), stderr };
  }

  it('prints one block with the origin of each setting', async () => {
    expect(await print('listen', '--origins')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('  port: 8080 # default\n'),
    });
    expect((await print('listen', '--origins')).stdout).toContain('  trustedProxies: [ loopback ] # gate.yaml:14\n');
  });

  it('prints JSON with --json', async () => {
    const { stdout } = await print('tokens', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ tokens: { access: '10m', refresh: '30d' } });
  });

  it('refuses an unknown block', async () => {
    const { code, stdout, stderr } = await print('tokkens');
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
    expect(stderr).toContain('The configuration has no block "tokkens". It has: version, profile, origin, ');
  });
});
