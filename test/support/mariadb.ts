import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir, totalmem, userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createConnection as connect, type RowDataPacket } from 'mysql2/promise';

const CANDIDATES = [process.env.MARIADBD, '/usr/sbin/mariadbd', '/usr/libexec/mariadbd'];

/** The MariaDB server on this machine, or undefined. */
export const MARIADBD = CANDIDATES.find((path) => path !== undefined && existsSync(path));

/** A MySQL server, which Debian stable does not have: named by COURSEGATE_TEST_MYSQLD, or undefined. */
export const MYSQLD = process.env.COURSEGATE_TEST_MYSQLD;

export interface MariaDb {
  /** The path of its Unix socket. The user is root, without a password. */
  readonly socket: string;
  /** Runs a statement, and returns its rows. */
  ask(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Kills the server, as a crash would. */
  kill(): Promise<void>;
  /** Starts it again with its data. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts a separate, empty MariaDB or MySQL on a Unix socket in a new folder.
 * @param durable whether it waits for the disk, and has the memory and redo log of a server for millions of rows
 * @param program MARIADBD or MYSQLD
 */
export async function startMariaDb(
  durable = false,
  more: readonly string[] = [],
  program = MARIADBD,
): Promise<MariaDb> {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-mariadb-'));
  const socket = join(folder, 'db.sock');
  const settings = [
    '--no-defaults',
    `--datadir=${join(folder, 'data')}`,
    `--user=${userInfo().username}`,
    ...(program === MYSQLD ? ['--mysqlx=OFF', '--secure-file-priv=NULL'] : []),
    `--${program === MYSQLD ? 'innodb-redo-log-capacity' : 'innodb-log-file-size'}=${durable ? '4G' : '8M'}`,
  ];
  // At start, a server removes every temporary table in this folder: in a shared one, those of the others too.
  const env = { ...process.env, TMPDIR: folder };
  const [installer, ...how] =
    program === MYSQLD
      ? [MYSQLD ?? '', '--initialize-insecure']
      : ['mariadb-install-db', '--auth-root-authentication-method=normal', '--skip-test-db'];
  await promisify(execFile)(installer as string, [...settings, ...how], { env });
  let child: ChildProcess;
  let ended: Promise<void>;
  const start = async () => {
    child = spawn(
      program ?? '',
      [
        ...settings,
        `--socket=${socket}`,
        `--pid-file=${join(folder, 'pid')}`,
        '--skip-networking',
        ...(durable
          ? [`--innodb-buffer-pool-size=${Math.min(8 * 2 ** 30, Math.floor(totalmem() / 3))}`]
          : ['--innodb-flush-log-at-trx-commit=2', '--innodb-buffer-pool-size=24M']),
        ...(program === MYSQLD && !durable ? ['--skip-log-bin'] : []),
        ...more,
      ],
      { env, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
    while (!(await answers(socket))) {
      if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}: ${said}`);
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
    async ask(sql) {
      const connection = await connect({ socketPath: socket, user: 'root' });
      try {
        const [rows] = await connection.query<RowDataPacket[]>(sql);
        return Array.isArray(rows) ? rows : [];
      } finally {
        connection.destroy();
      }
    },
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
