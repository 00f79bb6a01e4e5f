import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Command, runCommand } from '../support/command.ts';
import { freePort } from '../support/world.ts';

const GOOD = `version: 1
profile: B
origin: http://localhost:PORT
listen: { port: PORT, admin: { port: ADMIN } }
store: { kind: sqlite, path: data/gate.db }
login:
  kind: session
  upstream: school
  whoami: { path: /api/me }
  loginUrl: /login
  cookies: [school_session]
upstreams:
  school: { url: http://127.0.0.1:9 }
site: { upstream: school }
routes:
  - { match: "GET /api/v1/whoami", upstream: school }
`;

let folder: string;
const running = new Set<Command>();
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'coursegate-start-'));
});
afterAll(async () => {
  for (const command of running) command.signal('SIGKILL');
  await Promise.all([...running].map(({ exited }) => exited));
  rmSync(folder, { recursive: true, force: true });
});

const run = (args: string[], environment: Record<string, string> = {}) => {
  const command = runCommand(args, environment);
  running.add(command);
  return command;
};
const write = (name: string, text: string) => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};
const listens = (port: number) =>
  fetch(`http://localhost:${port}/`).then(
    () => true,
    () => false,
  );

describe('a configuration with mistakes', () => {
  const BAD = GOOD.replace('profile: B', 'profil: B')
    .replace('port: PORT, admin', 'port: eighty, admin')
    .replaceAll('PORT', '18080')
    .replaceAll('ADMIN', '0');

  it('is refused with the file, line and column of every mistake, and exit code 78', async () => {
    const file = write('bad.yaml', BAD);
    const command = run(['check', file]);
    expect(await command.exited).toBe(78);
    expect(command.stdout()).toBe('');
    expect(command.stderr()).toContain(`${file}:2:1`);
    expect(command.stderr()).toContain('profil');
    expect(command.stderr()).toContain(`${file}:4:17`);
    expect(command.stderr()).not.toMatch(/^\s+at /m);
  });

  it.each(['check', 'serve'])(
    'in the sources of tools and the Account API is refused with all of them at once by %s',
    async (how) => {
      write('contract.graphql', 'type Query { viewer: Viewer! } type Viewer { id: ID! title: String }\n');
      write(
        'contract.map.graphql',
        'extend type Query { viewer: Viewer! @fromIdentity }\nextend type Viewer { id: ID! @fromIdentity(claim: "nothing") }\n',
      );
      const about = 'title: T, description: D, get: { upstream: school, path: /x }';
      write('tools.yaml', `tools:\n  - { name: a, ${about}, input: { properties: { n: { typ: integer } } } }\n`);
      const file = write(
        `interfaces-${how}.yaml`,
        `${GOOD.replace('profile: B', 'profile: A').replaceAll('PORT', '18080').replace('ADMIN', '0')}mcp: { file: tools.yaml }
account: { schema: contract.graphql, mappings: contract.map.graphql }
`.replace('data/gate.db', `${how}/gate.db`),
      );
      const command = run(how === 'check' ? [how, file] : [how, '--config', file]);
      expect(await command.exited).toBe(78);
      expect(command.stdout()).toBe('');
      expect(command.stderr()).toMatch(/tools\.yaml:2:\d+ {2}mcp\.tools\[0\]\.input: /);
      expect(command.stderr()).toMatch(/contract\.(map\.)?graphql:\d+:\d+ {2}/);
      expect(command.stderr()).not.toMatch(/^\s+at /m);
      expect(existsSync(join(folder, 'check'))).toBe(false);
    },
  );

  it('starts nothing', async () => {
    const port = await freePort();
    const file = write('bad-serve.yaml', GOOD.replaceAll('PORT', String(port)).replace('ADMIN', '0 }, lisen: {'));
    const command = run(['serve', '--config', file]);
    expect(await command.exited).toBe(78);
    expect(command.stderr()).toMatch(/bad-serve\.yaml:\d+:\d+/);
    expect(command.stdout()).toBe('');
    expect(existsSync(join(folder, 'data'))).toBe(false);
    expect(await listens(port)).toBe(false);
  });

  it.each([
    ['does not exist', join('no', 'such.yaml'), undefined],
    ['is not YAML', 'broken.yaml', 'a: [1\nb: }'],
    ['is empty', 'empty.yaml', ''],
  ])('in a file that %s is refused without a stack trace', async (_name, name, text) => {
    const file = text === undefined ? join(folder, name) : write(name, text);
    const command = run(['check', file]);
    expect(await command.exited).toBe(78);
    expect(command.stderr()).toContain(name);
    expect(command.stderr()).not.toMatch(/^\s+at /m);
  });
});

describe('serve', () => {
  let port: number;
  let admin: number;
  let file: string;
  let command: Command;
  beforeAll(async () => {
    [port, admin] = [await freePort(), await freePort()];
    file = write('good.yaml', GOOD.replaceAll('PORT', String(port)).replace('ADMIN', String(admin)));
    command = run(['serve', '--config', file]);
    await command.line(/ready/);
  });

  it('passes its check, which prints what it found', async () => {
    const check = run(['check', file]);
    expect(await check.exited).toBe(0);
    expect(check.stdout()).toContain(`origin http://localhost:${port}`);
    expect(check.stdout()).toContain('profile B');
  });

  it('prints one line when everything listens', async () => {
    expect(command.stdout()).toBe(`coursegate ready http://localhost:${port} profile=B\n`);
    const metadata = await fetch(`http://localhost:${port}/.well-known/oauth-authorization-server`);
    expect(await metadata.json()).toMatchObject({ issuer: `http://localhost:${port}` });
  });

  it('answers health checks on the admin listener, and nothing else there', async () => {
    for (const path of ['/livez', '/readyz']) {
      const answer = await fetch(`http://127.0.0.1:${admin}${path}`);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(await answer.text()).toBe('ok\n');
      expect((await fetch(`http://127.0.0.1:${admin}${path}`, { method: 'POST' })).status).toBe(405);
    }
    for (const path of ['/', '/.well-known/oauth-authorization-server', '/api/oauth/token', '/oauth/authorize']) {
      expect((await fetch(`http://127.0.0.1:${admin}${path}`)).status).toBe(404);
    }
  });

  it.each(['/livez', '/readyz'])('does not answer %s on the public listener', async (path) => {
    // The school is down, so a path that the gate does not serve itself gets 502.
    const answer = await fetch(`http://localhost:${port}${path}`);
    expect(answer.status).toBe(502);
    expect(await answer.text()).not.toBe('ok\n');
  });

  it.each([
    { taken: 'public', environment: () => ({ ADMIN_PORT: '0' }), named: () => port },
    { taken: 'admin', environment: () => ({ PORT: '0', ADMIN_PORT: String(admin) }), named: () => admin },
  ])('says which $taken port is in use when started twice, and what to try', async ({ environment, named }) => {
    const data = mkdtempSync(join(folder, 'second-'));
    const second = run(['serve', '--config', file], { COURSEGATE_DATA: data, ...environment() });
    expect(await second.exited).toBe(1);
    expect(second.stdout()).toBe('');
    expect(second.stderr()).toMatch(
      new RegExp(`^Port ${named()} is in use\\.[^\\n]*\\nTry: PORT=8090 npx coursegate [^\\n]*\\n$`),
    );
  });

  it('ends on SIGTERM with exit 0, leaving nothing on the port', async () => {
    command.signal('SIGTERM');
    expect(await command.exited).toBe(0);
    // The log has one JSON record per line and nothing else.
    for (const line of command.stderr().trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('level');
    expect(await listens(port)).toBe(false);
    expect(readFileSync(join(folder, 'data/gate.db')).length).toBeGreaterThan(0);
  });
});

describe('the demo', () => {
  it('says which port is in use, and leaves nothing running', async () => {
    const squatter = createServer((_request, response) => response.end());
    await new Promise<void>((resolve) => squatter.listen(0, '127.0.0.1', resolve));
    const { port: taken } = squatter.address() as AddressInfo;
    try {
      const command = run(['demo'], {
        PORT: String(await freePort()),
        ADMIN_PORT: '0',
        SCHOOL_PORT: '0',
        CLIENT_PORT: String(taken),
        COURSEGATE_DATA: mkdtempSync(join(folder, 'demo-')),
      });
      expect(await command.exited).toBe(1);
      expect(command.stdout()).toBe('');
      expect(command.stderr()).toMatch(
        new RegExp(`^Port ${taken} is in use\\.[^\\n]*\\nTry: PORT=8090 npx coursegate [^\\n]*\\n$`),
      );
    } finally {
      squatter.close();
    }
  });

  it.each(['A', 'B'])('runs in Profile %s, and ends on SIGTERM with exit 0', async (profile) => {
    const port = await freePort();
    const command = run(['demo'], {
      COURSEGATE_PROFILE: profile,
      PORT: String(port),
      ADMIN_PORT: '0',
      SCHOOL_PORT: '0',
      CLIENT_PORT: '0',
      COURSEGATE_DATA: mkdtempSync(join(folder, 'demo-')),
    });
    expect(await command.line(/^coursegate ready/)).toBe(
      `coursegate ready http://localhost:${port} profile=${profile}`,
    );
    const anonymous = await fetch(`http://localhost:${port}/api/v1/courses`);
    expect(anonymous.status).toBe(profile === 'A' ? 401 : 200);
    command.signal('SIGTERM');
    expect(await command.exited).toBe(0);
  });
});
