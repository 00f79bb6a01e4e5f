import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const CANDIDATES = [process.env.MARIADBD, '/usr/sbin/mariadbd', '/usr/libexec/mariadbd'];

/** The MariaDB server on this machine, or undefined. */
export const MARIADBD = CANDIDATES.find((path) => path !== undefined && existsSync(path));

export interface MariaDb {
  /** The path of its Unix socket. The user is root, without a password. */
  readonly socket: string;
  /** Kills the server, as a crash would. */
  kill(): Promise<void>;
  /** Starts it again with its data. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts a separate, empty MariaDB on a Unix socket in a new folder.
 * @param durable whether it waits for the disk, and has its usual memory
 */
export async function startMariaDb(durable = false, more: readonly string[] = []): Promise<MariaDb> {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-mariadb-'));
  const socket = join(folder, 'db.sock');
  const settings = [
    '--no-defaults',
    `--datadir=${join(folder, 'data')}`,
    `--user=${userInfo().username}`,
    '--innodb-log-file-size=4M',
  ];
  // At start, a server removes every temporary table in this folder: in a shared one, those of the others too.
  const env = { ...process.env, TMPDIR: folder };
  const install = [...settings, '--auth-root-authentication-method=normal', '--skip-test-db'];
  await promisify(execFile)('mariadb-install-db', install, { env });
  let child: ChildProcess;
  let ended: Promise<void>;
  const start = async () => {
    child = spawn(
      MARIADBD ?? '',
      [
        ...settings,
        `--socket=${socket}`,
        `--pid-file=${join(folder, 'pid')}`,
        '--skip-networking',
        ...more,
        ...(durable ? [] : ['--innodb-flush-log-at-trx-commit=2', '--innodb-buffer-pool-size=24M']),
      ],
      { env, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
    while (!(await answers(socket))) {
      if (child.exitCode !== null) throw new Error(`mariadbd ended with ${child.exitCode}: ${said}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  await start();
  return {
    socket,
    kill,
    start,
    async close() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A server that is ready sends a greeting on every new connection. */
function answers(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createConnection(socket);
    probe.once('error', () => resolve(false));
    probe.once('data', () => {
      probe.destroy();
      resolve(true);
    });
  });
}
