import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';

const path = (relative: string) => fileURLToPath(new URL(`../../${relative}`, import.meta.url));

/** An installation with the real source, and a folder of packages of its own. */
let installation: string;
let packages: string;
let cache: string;
beforeEach(() => {
  installation = mkdtempSync(join(tmpdir(), 'coursegate-installation-'));
  packages = join(installation, 'node_modules');
  cache = join(packages, '.cache/coursegate');
  for (const part of ['bin', 'src', 'package.json']) {
    cpSync(path(part), join(installation, part), { recursive: true });
  }
  mkdirSync(packages);
  symlinkSync(path('node_modules/commander'), join(packages, 'commander'));
});
afterEach(() => rmSync(installation, { recursive: true }));

/** Runs `coursegate --version`; returns what Node reports about compiled code. */
function run(entry = 'src/main.ts', environment: Readonly<Record<string, string>> = {}): string {
  const { stdout, stderr, status } = spawnSync(process.execPath, [join(installation, entry), '--version'], {
    env: { PATH: process.env.PATH ?? '', NODE_DEBUG_NATIVE: 'COMPILE_CACHE', ...environment },
    encoding: 'utf8',
  });
  expect([status, stdout.endsWith('0.1.0\n')]).toEqual([0, true]);
  return stdout + stderr;
}

/** The files with compiled code, which Node keeps in a folder for its version and the account. */
function kept(): readonly string[] {
  return readdirSync(cache, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('/'));
}

it.each(['src/main.ts', 'bin/coursegate.js'])(
  'keeps compiled code in the installation, for the next start of %s',
  (entry) => {
    expect(run(entry)).not.toMatch(/program\.ts was accepted/);
    expect(statSync(cache).mode & 0o777).toBe(0o700);
    expect(kept().length).toBeGreaterThan(5);
    expect(run(entry)).toMatch(/program\.ts was accepted/);
  },
);

it('is used before the first TypeScript is loaded, so that Node’s type stripper is not', () => {
  run('bin/coursegate.js');
  expect(run('bin/coursegate.js')).toMatch(/StrippedTypeScript \S+src\/main\.ts\.\.\.success/);
});

it.each([
  ['its group', 0o770],
  ['everyone', 0o702],
])('does not use a folder that %s can write to', (_name, mode) => {
  mkdirSync(cache, { recursive: true });
  chmodSync(cache, mode);
  run();
  expect(kept()).toEqual([]);
});

it('leaves the folder that the operator names in NODE_COMPILE_CACHE in use', () => {
  const theirs = join(installation, 'theirs');
  run('src/main.ts', { NODE_COMPILE_CACHE: theirs });
  expect(readdirSync(theirs)).toHaveLength(1);
  expect(kept()).toEqual([]);
});

it('starts where it cannot create the folder', () => {
  mkdirSync(join(packages, '.cache'));
  symlinkSync(join(installation, 'missing/folder'), cache);
  run();
  expect(existsSync(cache)).toBe(false);
});

it.skipIf(process.getuid?.() !== 0)('writes nothing into an installation that belongs to another account', () => {
  spawnSync('chown', ['-R', '12345', packages]);
  run();
  expect(existsSync(cache)).toBe(false);
});
