import { execFile, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { missing } from '../support/missing.ts';
import { freePort } from '../support/world.ts';
import { PHP } from './moodle-site.ts';

/**
 * The folder of an installed Moodle 4.5, set by COURSEGATE_TEST_MOODLE. Its database must be running, and it needs:
 * - a language pack `de`, if only one without texts
 * - in config.php, before `require_once(__DIR__ . '/lib/setup.php')`, the settings of the tests:
 *   foreach (json_decode(getenv('COURSEGATE_TEST_CFG') ?: '{}', true) as $name => $value) { $CFG->$name = $value; }
 *
 * The tests copy the plugin into it, add members and courses, and switch on completion and the multi-language filter.
 */
const MOODLE = process.env.COURSEGATE_TEST_MOODLE;

/** Whether the tests on a real Moodle run. Without one, they are skipped by name. */
export function realMoodlePresent(): boolean {
  if (MOODLE === undefined) {
    return missing(
      'the tests on a real Moodle: set COURSEGATE_TEST_MOODLE to the folder of one (see moodle-real-site.ts)',
      true,
    );
  }
  for (const path of ['config.php', 'lib/setup.php', 'local']) {
    if (!existsSync(join(MOODLE, path))) throw new Error(`COURSEGATE_TEST_MOODLE: ${path} is missing in ${MOODLE}`);
  }
  return true;
}

/** Copies the plugin into the Moodle, and installs or updates it. */
export async function installPlugin(): Promise<void> {
  const target = join(MOODLE ?? '', 'local/coursegate');
  rmSync(target, { recursive: true, force: true });
  const plugin = fileURLToPath(new URL('../../integrations/moodle/coursegate', import.meta.url));
  cpSync(plugin, target, { recursive: true });
  await promisify(execFile)(PHP ?? '', [...PHP_SETTINGS, 'admin/cli/upgrade.php', '--non-interactive'], {
    cwd: MOODLE,
  });
}

const PHP_SETTINGS = ['-d', 'max_input_vars=5000', '-d', 'opcache.revalidate_freq=0'];
/** Moodle compares the port it listens on with its address. Behind a web server on the standard port it has none. */
const BEHIND_A_PROXY = `<?php $_SERVER['SERVER_PORT'] = explode(':', $_SERVER['HTTP_HOST'] ?? '')[1] ?? '80';`;

export interface RealMoodle {
  /** Where PHP listens. */
  readonly url: string;
  close(): Promise<void>;
}

/** Serves the Moodle with these values in $CFG. */
export async function serveMoodle(settings: Readonly<Record<string, unknown>>): Promise<RealMoodle> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-moodle-'));
  const before = join(folder, 'before.php');
  writeFileSync(before, BEHIND_A_PROXY);
  const flags = [...PHP_SETTINGS, '-d', `auto_prepend_file=${before}`, '-q'];
  const server = spawn(PHP ?? '', [...flags, '-S', `127.0.0.1:${port}`, '-t', MOODLE ?? ''], {
    // The plugin calls the gate during a request, and the gate may call Moodle in turn.
    env: { ...process.env, ...environment(settings), PHP_CLI_SERVER_WORKERS: '4' },
    // Its workers are child processes, which do not exit with it.
    detached: true,
    stdio: 'ignore',
  });
  while (!(await listens(`${url}/COPYING.txt`))) {
    if (server.exitCode !== null) throw new Error(`php -S ended with ${server.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    url,
    close: () =>
      new Promise((resolve) => {
        server.once('close', () => {
          rmSync(folder, { recursive: true, force: true });
          resolve();
        });
        process.kill(-(server.pid ?? 0), 'SIGKILL');
      }),
  };
}

/** Runs PHP in this Moodle, like its command line tools. Returns what it prints. */
export function runInMoodle(php: string, settings: Readonly<Record<string, unknown>>): Promise<string> {
  const prelude = `define('CLI_SCRIPT', true); require '${MOODLE}/config.php'; global $CFG, $DB;
    require_once("$CFG->libdir/testing/generator/lib.php"); require_once("$CFG->dirroot/user/lib.php");`;
  const child = spawn(PHP ?? '', ['-d', 'display_errors=stderr', '-r', `${prelude} ${php}`], {
    env: { ...process.env, ...environment(settings) },
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(stdout);
      else reject(new Error(`php ended with ${code}: ${stdout}${stderr}`));
    });
  });
}

const environment = (settings: Readonly<Record<string, unknown>>) => ({
  COURSEGATE_TEST_CFG: JSON.stringify(settings),
});

function listens(url: string): Promise<boolean> {
  return fetch(url).then(
    (response) => response.arrayBuffer().then(() => true),
    () => false,
  );
}
