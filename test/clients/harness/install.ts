import { exec } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Language } from './catalogue.ts';

/** What npm, pip, Go, Cargo and Maven print if a registry cannot be reached, but not if it lacks a package. */
const UNREACHABLE = new RegExp(
  [
    'npm error code (?:ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT)',
    'after connection broken by',
    'dial tcp',
    '\\[(?:5|6|7|28)\\] (?:Could not|Timeout)',
    'Could not transfer(?!.*Checksum)',
  ].join('|'),
);

type Folder = Pick<Language, 'path'>;

const markOf = ({ path }: Folder) => join(path, '.installed', 'unreachable');

/**
 * Installs the packages of a language's clients, or builds them.
 *
 * @returns why they could not be downloaded, undefined if they were installed. It throws on any other failure
 */
export async function install({
  path,
  install: command,
}: Folder & Pick<Language, 'install'>): Promise<string | undefined> {
  const mark = markOf({ path });
  rmSync(mark, { force: true });
  try {
    await promisify(exec)(command, { cwd: path, maxBuffer: 2 ** 26 });
    return undefined;
  } catch (thrown) {
    const { stdout = '', stderr = '' } = thrown as { stdout?: string; stderr?: string };
    const line = `${stdout}${stderr}`.split('\n').find((one) => UNREACHABLE.test(one));
    if (line === undefined) throw new Error(`${command}: ${stdout}${stderr}`.slice(-8000), { cause: thrown });
    // What was installed so far would fail to run.
    rmSync(join(path, '.installed'), { recursive: true, force: true });
    mkdirSync(join(path, '.installed'));
    writeFileSync(mark, line.trim());
    return line.trim();
  }
}

/** Why the packages could not be downloaded when they were last installed; undefined if they could. */
export function undownloaded(language: Folder): string | undefined {
  const mark = markOf(language);
  return existsSync(mark) ? readFileSync(mark, 'utf8') : undefined;
}

/** The process that installs, while it does. */
const INSTALLER = fileURLToPath(new URL('../.installing', import.meta.url));

/** Marks an install as running, for `installsOver` in other processes. */
export async function whileInstalling(work: () => Promise<void>, mark = INSTALLER): Promise<void> {
  writeFileSync(mark, String(process.pid));
  try {
    await work();
  } finally {
    rmSync(mark, { force: true });
  }
}

/** Resolves when no install is running: `.ci/run` installs while the types are checked. */
export async function installsOver(mark = INSTALLER): Promise<void> {
  while (existsSync(mark) && isRunning(Number(readFileSync(mark, 'utf8')))) await sleep(200);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
