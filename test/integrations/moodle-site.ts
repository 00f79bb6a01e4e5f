import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { missing } from '../support/missing.ts';
import { freePort } from '../support/world.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
export const PHP = ['/usr/bin/php', '/usr/local/bin/php'].find((path) => existsSync(path));

/** Whether tests that need PHP run. Without it, they are skipped by name; in CI they fail instead. */
export function phpPresent(): boolean {
  if (PHP !== undefined) return true;
  return missing('no php found: the tests of the Moodle plugin need it (apt-get install php-cli)');
}

/** The data of the fake Moodle: rows of the user table by id, sessions by cookie, the plugin's settings. */
interface State {
  readonly members: Readonly<Record<string, Readonly<Record<string, string | number>>>>;
  readonly sessions: Readonly<Record<string, { member: string; at: number; session?: Record<string, unknown> }>>;
  readonly settings: Readonly<Record<string, string>>;
  readonly mfa?: boolean;
  readonly maintenance?: boolean;
  /** When the database fails: while Moodle starts, or at the first query of the plugin. */
  readonly failing?: '' | 'setup' | 'query';
  /** The courses of member 4 by id: the title as Moodle formats it, and what enrol_get_enrolment_end() returns. */
  readonly courses?: Readonly<Record<string, Readonly<Record<string, string | number | boolean | null>>>>;
  /** The course modules, by id. */
  readonly modules?: Readonly<Record<string, { name: string; visible: boolean }>>;
  /** Rows of the role assignments, by member. */
  readonly assigned?: Readonly<Record<string, readonly Readonly<Record<string, string | null>>[]>>;
  /** The capabilities of member 4, by course. */
  readonly capabilities?: Readonly<Record<string, readonly string[]>>;
  /** Rows of the log of member 4, the latest first; null without a log store in the database. */
  readonly viewed?: readonly { id: number; course: number }[] | null;
}

export interface MoodleSite {
  readonly url: string;
  /** Applies changes to the data. */
  change(changes: Partial<State>): void;
  /** Simulates the end of the pause between key fetches, or of the whole cache lifetime. */
  forgetKeys(which: 'pause' | 'all'): void;
  complaints(): string;
  close(): Promise<void>;
}

/** The plugin's pages on PHP's built-in server, with a fake Moodle that has the same names but not the behaviour. */
export async function startMoodle(first: State): Promise<MoodleSite> {
  const root = mkdtempSync(join(tmpdir(), 'coursegate-moodle-'));
  mkdirSync(join(root, 'lib'));
  for (const page of ['config.php', 'events.php', 'load.php']) cpSync(here(`apps/moodle/${page}`), join(root, page));
  cpSync(here('apps/moodle/filelib.php'), join(root, 'lib/filelib.php'));
  cpSync(here('../../integrations/moodle/coursegate'), join(root, 'local/coursegate'), { recursive: true });
  let state = first;
  const change = (changes: Partial<State>) => {
    state = { ...state, ...changes };
    writeFileSync(join(root, 'state.json'), JSON.stringify(state));
  };
  const cache = join(root, 'cache.json');
  change({});
  writeFileSync(cache, '{}');
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = spawn(PHP ?? '', ['-q', '-S', `127.0.0.1:${port}`, '-t', root], { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => server.once('close', () => resolve()));
  while (!(await listens(url))) {
    if (server.exitCode !== null) throw new Error(`php -S ended with ${server.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const log = join(root, 'complaints.log');
  return {
    url,
    change,
    forgetKeys(which) {
      const { pause: _, ...kept } = JSON.parse(readFileSync(cache, 'utf8'));
      writeFileSync(cache, JSON.stringify(which === 'all' ? {} : kept));
    },
    complaints: () => (existsSync(log) ? readFileSync(log, 'utf8') : ''),
    async close() {
      server.kill('SIGKILL');
      await ended;
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function listens(url: string): Promise<boolean> {
  return fetch(url).then(
    (response) => response.arrayBuffer().then(() => true),
    () => false,
  );
}
