import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { missing } from './missing.ts';

const ROOT = '/usr/lib/postgresql';

/** The binaries of the newest PostgreSQL on this machine, or undefined. */
export const POSTGRES = (existsSync(ROOT) ? readdirSync(ROOT) : [])
  .sort((a, b) => Number(b) - Number(a))
  .map((version) => join(ROOT, version, 'bin'))
  .find((folder) => existsSync(join(folder, 'initdb')));

/** Whether PostgreSQL is here. Without it, tests are skipped by name; in CI they fail. */
export const postgresPresent = () =>
  POSTGRES !== undefined ||
  missing('no PostgreSQL found: tests of the postgres store need it (apt-get install postgresql)');

/** What a server presents on a TCP port of this machine, beside its socket. */
export interface TlsPort {
  readonly port: number;
  /** PEM. */
  readonly cert: string;
  readonly key: string;
}

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
  /** Starts a streaming replica of it, which can be promoted. */
  replica(): Promise<Postgres>;
  close(): Promise<void>;
}

/**
 * Starts a separate, empty PostgreSQL on a Unix socket in a new folder.
 * @param durable whether it waits for the disk, and has its usual memory
 * @param original the server that it is a replica of
 */
export async function startPostgres(
  durable = false,
  tls?: TlsPort,
  original?: Pick<Postgres, 'socket'>,
): Promise<Postgres> {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-postgres-'));
  const data = join(folder, 'data');
  const as = unprivileged();
  if (as.uid !== undefined) chownSync(folder, as.uid, as.gid ?? as.uid);
  const bin = (name: string) => join(POSTGRES ?? '', name);
  const [maker, ...how] =
    original === undefined
      ? ['initdb', '-A', 'trust', '-N', '--locale=C.UTF-8']
      : ['pg_basebackup', '-h', original.socket, '-R', '--checkpoint=fast'];
  const made = spawnSync(bin(maker as string), [...how, '-D', data, '-U', 'postgres'], {
    encoding: 'utf8',
    cwd: folder,
    ...as,
  });
  if (made.status !== 0) throw new Error(`${maker}: ${made.error ?? made.stderr}`);
  const quick = ['fsync=off', 'shared_buffers=8MB', 'max_connections=40'];
  const port = String(tls?.port ?? 5432);
  for (const name of ['cert', 'key'] as const) {
    if (tls === undefined) break;
    writeFileSync(join(data, name), tls[name], { mode: 0o600 });
    if (as.uid !== undefined) chownSync(join(data, name), as.uid, as.gid ?? as.uid);
  }
  const secure = ['listen_addresses=localhost', 'ssl=on', 'ssl_cert_file=cert', 'ssl_key_file=key'];
  const listening = tls === undefined ? ['listen_addresses='] : secure;
  const settings = [`port=${port}`, ...listening, ...(durable ? [] : quick)];
  const psql = ['-h', folder, '-p', port, '-U', 'postgres', '-d', 'postgres', '-v', 'ON_ERROR_STOP=1', '-qAt'];
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
    replica: () => startPostgres(durable, undefined, { socket: folder }),
    async close() {
      if (child.exitCode === null && child.signalCode === null) await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** PostgreSQL and PgBouncer refuse to run as root. */
export function unprivileged(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
