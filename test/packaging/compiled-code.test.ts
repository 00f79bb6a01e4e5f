import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { buildBundle } from '../../packaging/bundle/bundle.ts';
import { watchProcess } from '../support/watched.ts';

const CONFIG = `version: 1
profile: B
origin: http://localhost:8080
listen: { port: 0, admin: { port: 0 } }
store: { kind: memory }
login: { kind: session, upstream: school, whoami: { path: /api/me }, loginUrl: /login, cookies: [school_session] }
upstreams: { school: { url: http://127.0.0.1:9 } }
site: { upstream: school }
`;

const folder = mkdtempSync(join(tmpdir(), 'coursegate-compiled-'));
const bundle = join(folder, 'bundle');
const config = join(folder, 'coursegate.yaml');
beforeAll(async () => {
  await buildBundle({ out: bundle });
  writeFileSync(config, CONFIG);
});
beforeEach(() => rmSync(join(bundle, 'node_modules'), { recursive: true, force: true }));
afterAll(() => rmSync(folder, { recursive: true }));

function run(args: readonly string[], flags: readonly string[] = [], environment: NodeJS.ProcessEnv = {}) {
  const env = { PATH: process.env.PATH, ...environment };
  return watchProcess(spawn(process.execPath, [...flags, join(bundle, 'lib/coursegate.cjs'), ...args], { env }));
}

/** Starts the gate and stops it. */
async function serve(flags: readonly string[] = [], environment: NodeJS.ProcessEnv = {}): Promise<void> {
  const gate = run(['serve', '--config', config], flags, environment);
  await gate.line(/^coursegate ready/);
  gate.signal('SIGTERM');
  expect(await gate.exited).toBe(0);
}

/** The one file of compiled code. Node names its folder for its version, the flags and the account. */
function kept(): string {
  const found = globSync('node_modules/.cache/coursegate/*/bundle', { cwd: bundle });
  expect(found).toHaveLength(1);
  return join(bundle, found[0] ?? '');
}
/** A file that is written again is another one. A start writes it if V8 accepts the code of any chunk no longer. */
const identity = (file: string) => statSync(file, { bigint: true }).ino;

it('is kept by the first start beside the bundle, and used by later ones, also with another size of the heap', async () => {
  await serve();
  const first = identity(kept());
  expect(statSync(kept()).size).toBeGreaterThan(1_000_000);
  await serve();
  await serve(['--max-semi-space-size=4', '--max-old-space-size=200']);
  expect(identity(kept())).toBe(first);
});

it.each([
  ['damaged', (code: Buffer) => code.fill(0x5a, code.length >> 1, (code.length >> 1) + 4096)],
  ['cut off', (code: Buffer) => code.subarray(0, code.length >> 1)],
  ['empty', () => Buffer.alloc(0)],
])('is ignored if it is %s, and written again', async (_name, change) => {
  await serve();
  const whole = readFileSync(kept());
  writeFileSync(kept(), change(Buffer.from(whole)));
  const before = identity(kept());
  await serve();
  expect(identity(kept())).not.toBe(before);
  const repaired = identity(kept());
  await serve();
  expect(identity(kept())).toBe(repaired);
});

it('is ignored if V8 compiled it with other flags', async () => {
  await serve(['--no-opt']);
  const foreign = join(folder, 'foreign');
  renameSync(kept(), foreign);
  rmSync(join(bundle, 'node_modules'), { recursive: true });
  await serve();
  renameSync(foreign, kept());
  const before = identity(kept());
  await serve();
  expect(identity(kept())).not.toBe(before);
});

it('is ignored for a chunk whose source is another one of the same length', async () => {
  const file = join(bundle, 'lib/program.cjs');
  const source = readFileSync(file, 'utf8');
  await serve();
  writeFileSync(file, source.replace('print the version', 'PRINT THE VERSION'));
  try {
    const help = run(['--help']);
    expect([await help.exited, help.stdout()]).toEqual([0, expect.stringContaining('PRINT THE VERSION')]);
  } finally {
    writeFileSync(file, source);
  }
});

it('is neither read nor written where other accounts can write', async () => {
  await serve();
  const broken = Buffer.alloc(100);
  writeFileSync(kept(), broken);
  chmodSync(dirname(kept()), 0o777);
  await serve();
  expect(readFileSync(kept())).toEqual(broken);
});

it('is not kept by commands that are no start, and not if it is switched off', async () => {
  await serve([], { NODE_DISABLE_COMPILE_CACHE: '1' });
  expect(existsSync(join(bundle, 'node_modules'))).toBe(true);
  expect(await run(['check', config]).exited).toBe(0);
  expect(globSync('node_modules/.cache/coursegate/*/bundle', { cwd: bundle })).toEqual([]);
});

it('is kept in the folder that NODE_COMPILE_CACHE names', async () => {
  const theirs = join(folder, 'theirs');
  await serve([], { NODE_COMPILE_CACHE: theirs });
  expect(globSync('*/bundle', { cwd: theirs })).toHaveLength(1);
  expect(globSync('node_modules/.cache/coursegate/*/bundle', { cwd: bundle })).toEqual([]);
});
