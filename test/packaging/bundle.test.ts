import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildBundle } from '../../packaging/bundle/bundle.ts';
import { filesBelow, ROOT } from '../../packaging/files.ts';
import { bearer, registerApp } from '../support/app.ts';
import { connect } from '../support/connection.ts';
import { startRecordingUpstream } from '../support/recording-upstream.ts';
import { type WatchedProcess, watchProcess } from '../support/watched.ts';
import { freePort } from '../support/world.ts';
import { readAsMember } from './support/read-as-member.ts';
import { writeSchoolConfig } from './support/school-config.ts';

/** Outside of the clone, so that no package is found beside it. */
let folder: string;
let bundle: string;
const running = new Set<WatchedProcess>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'coursegate-bundle-'));
  bundle = join(folder, 'bundle');
  await buildBundle({ out: bundle });
});
afterAll(async () => {
  for (const command of running) command.signal('SIGKILL');
  await Promise.all([...running].map(({ exited }) => exited));
  rmSync(folder, { recursive: true });
});

function run(args: readonly string[], environment: Readonly<Record<string, string>> = {}): WatchedProcess {
  const env = { PATH: process.env.PATH ?? '', ...environment };
  const child = spawn(process.execPath, [join(bundle, 'lib/coursegate.cjs'), ...args], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const command = watchProcess(child);
  running.add(command);
  return command;
}

describe('the bundle', () => {
  it('has its licences, no path of the clone, and less than 15 MB', () => {
    const files = filesBelow(bundle);
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'NOTICE', 'lib/coursegate.cjs', 'sbom.cdx.json']));
    const texts = files.map((path) => [path, readFileSync(join(bundle, path), 'latin1')] as const);
    expect(texts.filter(([, text]) => text.includes(ROOT)).map(([path]) => path)).toEqual([]);
    const size = files.reduce((sum, path) => sum + statSync(join(bundle, path)).size, 0);
    expect(size).toBeLessThan(15 * 1024 ** 2);
  });

  it('imports no module of Node with import(), which V8 lacks for code that it compiled earlier', () => {
    const files = filesBelow(bundle).filter((path) => path.endsWith('.cjs'));
    expect(files.length).toBeGreaterThan(100);
    const imports = files.filter((path) => /\bimport\([`'"]node:/.test(readFileSync(join(bundle, path), 'latin1')));
    expect(imports).toEqual([]);
  });

  it('runs the demo, with the Account API, tools and console, and leaves no file behind', async () => {
    const [port, adminPort] = [await freePort(), await freePort()];
    const origin = `http://localhost:${port}`;
    const demo = run(['demo'], {
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
      ...{ SCHOOL_PORT: '0', CLIENT_PORT: '0' },
    });
    await demo.line(/^coursegate ready/);
    const app = await registerApp(origin);
    const { access_token: token } = await connect(app);
    const post = async (path: string, body: object) => {
      const headers = { ...bearer(String(token)), 'content-type': 'application/json', accept: ACCEPT };
      return (await fetch(origin + path, { method: 'POST', headers, body: JSON.stringify(body) })).text();
    };
    expect(await post('/account/graphql', { query: '{ viewer { email } }' })).toContain('student@example.com');
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
    expect(await post('/mcp', list)).toContain('search_courses');
    // Refused, because `fetch` is no navigation, but with a page of the console.
    const console = await fetch(`http://localhost:${adminPort}/console/sign-in`);
    expect([console.status, await console.text()]).toEqual([403, expect.stringContaining('Harbour Lane School')]);
    demo.signal('SIGTERM');
    expect(await demo.exited).toBe(0);
    expect(filesBelow(folder).filter((path) => !path.startsWith('bundle/'))).toEqual([]);
  });

  it.each([
    ['bcrypt', 'sam@school.test', '1001'],
    ['phpass', 'olu@school.test', '1002'],
  ])('signs members in by a hash of %s in threads, and decides for a gateway', async (scheme, username, id) => {
    const school = await startRecordingUpstream((_request, response) => void response.end('the school'));
    const root = join(folder, scheme);
    mkdirSync(join(root, 'data'), { recursive: true });
    const config = await writeSchoolConfig(root, school.url);
    const gate = run(['serve', '--config', join(root, config.file)], {
      ...config.environment,
      MEMBERS: `sqlite:${root}/data/members.db`,
    });
    await gate.line(/^coursegate ready/);
    expect(await readAsMember(config, username)).toEqual({ status: 200, decided: { status: 200, member: id } });
    expect(school.last().values('x-member-id')).toEqual([id]);
    gate.signal('SIGTERM');
    expect(await gate.exited).toBe(0);
    await school.close();
  });

  it.each(['postgres://reader@127.0.0.1:1/school', 'mysql://reader@127.0.0.1:1/school'])(
    'brings the driver of %s',
    async (url) => {
      const file = join(folder, 'database.yaml');
      writeFileSync(file, DATABASE);
      const check = run(['check', file], { DB: url });
      expect([await check.exited, check.stdout()]).toEqual([0, expect.stringContaining('valid')]);
      rmSync(file);
    },
  );

  it('prints the schema, and the Lua of HAProxy, from its own files', async () => {
    const schema = run(['config', 'schema']);
    expect([await schema.exited, schema.stdout()]).toEqual([0, expect.stringContaining('"coursegate configuration"')]);
    mkdirSync(join(folder, 'haproxy/data'), { recursive: true });
    const { file, environment } = await writeSchoolConfig(join(folder, 'haproxy'), 'http://127.0.0.1:9');
    const args = ['snippets', '--for', 'haproxy', '--config', join(folder, 'haproxy', file)];
    const snippets = run(args, environment);
    expect([await snippets.exited, snippets.stdout()]).toEqual([0, expect.stringContaining('core.register_action')]);
  });
});

const ACCEPT = 'application/json, text/event-stream';
const DATABASE = `version: 1
profile: B
origin: http://localhost:8080
store: { kind: memory }
login: { kind: database, url: { env: DB }, query: "select id, hash from users where email = $1" }
upstreams: { school: { url: http://127.0.0.1:9 } }
site: { upstream: school }
`;
