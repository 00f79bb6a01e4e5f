import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = '/usr/lib/postgresql';

/** The binaries of the newest PostgreSQL on this machine, or undefined. */
export const POSTGRES = (existsSync(ROOT) ? readdirSync(ROOT) : [])
  .sort((a, b) => Number(b) - Number(a))
  .map((version) => join(ROOT, version, 'bin'))
  .find((folder) => existsSync(join(folder, 'initdb')));

export interface Postgres {
  /** Its data directory. */
  readonly data: string;
  /** The folder of its Unix socket. The user is postgres, without a password. */
  readonly socket: string;
  /** Runs SQL and returns what psql prints, without headings. */
  run(sql: string): string;
  /** Kills the server, as a crash would. */
  kill(): Promise<void>;
  /** Starts it again with its data. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts a separate, empty PostgreSQL on a Unix socket in a new folder.
 * @param durable whether it waits for the disk, and has its usual memory
 */
export async function startPostgres(durable = false): Promise<Postgres> {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-postgres-'));
  const data = join(folder, 'data');
  const as = unprivileged();
  if (as.uid !== undefined) chownSync(folder, as.uid, as.gid ?? as.uid);
  const bin = (name: string) => join(POSTGRES ?? '', name);
  const made = spawnSync(bin('initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-N', '--locale=C.UTF-8'], {
    encoding: 'utf8',
    cwd: folder,
    ...as,
  });
  if (made.status !== 0) throw new Error(`initdb: ${made.error ?? made.stderr}`);
  const quick = ['fsync=off', 'shared_buffers=8MB', 'max_connections=40'];
  const settings = ['listen_addresses=', ...(durable ? [] : quick)];
  const psql = ['-h', folder, '-U', 'postgres', '-d', 'postgres', '-v', 'ON_ERROR_STOP=1', '-qAt'];
  let child: ChildProcess;
  let ended: Promise<void>;
  const start = async () => {
    child = spawn(bin('postgres'), ['-D', data, '-k', folder, ...settings.flatMap((one) => ['-c', one])], {
      stdio: ['ignore', 'ignore', 'pipe'],
      cwd: folder,
      ...as,
    });
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
    const ready = () => spawnSync(bin('psql'), [...psql, '-c', 'select 1'], { stdio: 'ignore' }).status === 0;
    while (!ready()) {
      if (child.exitCode !== null) throw new Error(`postgres ended with ${child.exitCode}: ${said}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const kill = async () => {
    // The server's other processes end when they notice, and only then is its standard error closed.
    child.kill('SIGKILL');
    await ended;
  };
  await start();
  return {
    data,
    socket: folder,
    run: (sql) => execFileSync(bin('psql'), psql, { input: sql, encoding: 'utf8' }).trim(),
    kill,
    start,
    async close() {
      if (child.exitCode === null && child.signalCode === null) await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** PostgreSQL refuses to run as root. */
function unprivileged(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
