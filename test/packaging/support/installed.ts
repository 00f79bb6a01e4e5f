import { execFile, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../../packaging/files.ts';
import { missing } from '../../support/missing.ts';
import { type WatchedProcess, watchProcess } from '../../support/watched.ts';

const run = promisify(execFile);
/** Node's own program as a package of the registry, for this machine. */
const NODE = `node-linux-${process.arch}`;
const QUIET = ['--no-audit', '--no-fund', '--no-progress', '--loglevel=error'];

/**
 * Whether packages can be installed. Without a registry, the tests are skipped by name. In CI they fail instead, since a
 * green run must mean that they ran.
 */
export function registryPresent(): boolean {
  // Not from npm's cache, which answers for a registry that cannot be reached.
  const cache = mkdtempSync(join(tmpdir(), 'coursegate-npm-'));
  const asked = [
    'view',
    `${NODE}@24.11.0`,
    'version',
    '--fetch-retries=0',
    '--fetch-timeout=10000',
    `--cache=${cache}`,
  ];
  try {
    execFileSync('npm', asked, { stdio: 'ignore' });
    return true;
  } catch {
    return missing(`npm cannot reach a registry with ${NODE}: the package is installed from one (npm ping)`);
  } finally {
    rmSync(cache, { recursive: true });
  }
}

/** The program of a version of Node. */
export async function nodeOf(version: string): Promise<string> {
  return join(await packageOf(NODE, version), 'bin/node');
}

/** The folder of a package of the registry. Downloaded once, into node_modules. */
export async function packageOf(name: string, version: string): Promise<string> {
  const folder = join(ROOT, 'node_modules/.cache/coursegate-node', name === NODE ? version : `${name}-${version}`);
  const path = join(folder, 'node_modules', name);
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{}');
    await run('npm', ['install', ...QUIET, `${name}@${version}`], { cwd: folder });
  }
  return path;
}

/** Packs the clone. Returns the tarball, and the paths in it. */
export async function pack(): Promise<{ readonly tarball: string; readonly files: readonly string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-pack-'));
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder, '--loglevel=error'], {
    cwd: ROOT,
    maxBuffer: 16 * 1024 ** 2,
  });
  const report: unknown = JSON.parse(stdout.slice(stdout.search(/^[[{]/m)));
  // An array in npm 10 and 11, an object by the name of the package in npm 12.
  const [packed] = Object.values(report as Record<string, { filename: string; files: { path: string }[] }>);
  if (packed === undefined) throw new Error(`npm pack told nothing: ${stdout}`);
  return { tarball: join(folder, packed.filename), files: packed.files.map(({ path }) => path) };
}

/** A folder that was empty before the package was installed in it. */
export async function install(tarball: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-installed-'));
  await run('npm', ['install', ...QUIET, '--prefer-offline', tarball], { cwd: folder });
  return folder;
}

export interface Running extends WatchedProcess {
  /** Ends the command and npm around it. */
  stop(): Promise<void>;
}

/** Runs `npx coursegate ...` in a folder, with `node` being the given program. Standard error is in `stdout` too. */
export function npx(
  folder: string,
  node: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Running {
  const env = { PATH: `${dirname(node)}:${process.env.PATH}`, HOME: process.env.HOME ?? folder, ...environment };
  const script = 'exec npx --no-install coursegate "$@" 2>&1';
  const child = spawn('sh', ['-c', script, 'sh', ...args], {
    cwd: folder,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const watched = watchProcess(child);
  return {
    ...watched,
    async stop() {
      // The group: npm does not pass signals on to what it runs.
      if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
      await watched.exited;
    },
  };
}
