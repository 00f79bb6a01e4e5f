import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { missing } from './missing.ts';

const CANDIDATES = [process.env.REDIS_SERVER, '/usr/bin/redis-server', '/usr/local/bin/redis-server'];

/** The Redis server on this machine, or undefined. */
export const REDIS = CANDIDATES.find((path) => path !== undefined && existsSync(path));

/**
 * Whether the tests with a real Redis can run. Without one they are skipped with a message that names what to install.
 * In CI this is an error, so that a green run means they ran.
 */
export function redisPresent(): boolean {
  if (REDIS !== undefined) return true;
  return missing(
    'no redis-server found: the Redis tests need one (apt-get install redis-server, or set REDIS_SERVER to its path)',
  );
}

export interface RedisServer {
  readonly url: string;
  /** The path of its Unix socket. */
  readonly socket: string;
  /** The id of the current process. */
  readonly pid: () => number;
  /** Kills the process, as a crash would. */
  kill(): Promise<void>;
  /** Starts it again at the same address. With an append-only file, it keeps its data. */
  start(): Promise<void>;
  /** Stops the process (SIGSTOP): connections stay open, but it does not respond. */
  hang(): void;
  resume(): void;
  close(): Promise<void>;
}

export interface RedisServerOptions {
  /** Without an append-only file, a kill loses all data. */
  readonly appendOnly?: boolean | 'always' | 'everysec';
  /** Additional command-line arguments. */
  readonly args?: readonly string[];
}

/** Starts a separate Redis on a Unix socket. */
export async function startRedis({ appendOnly = false, args = [] }: RedisServerOptions = {}): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-redis-'));
  const socket = join(folder, 'redis.sock');
  let child: ChildProcess | undefined;

  const start = async () => {
    const fsync = typeof appendOnly === 'string' ? ['--appendfsync', appendOnly] : [];
    const durability = ['--save', '', '--appendonly', appendOnly === false ? 'no' : 'yes', ...fsync];
    const address = ['--port', '0', '--unixsocket', socket, '--unixsocketperm', '700'];
    child = spawn(REDIS ?? '', [...address, ...durability, '--dir', folder, ...args], { stdio: 'ignore' });
    for (let tries = 0; !(await answers(socket)); tries += 1) {
      if (tries === 500) throw new Error('redis-server did not start');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const kill = async () => {
    const dying = child;
    if (dying === undefined) return;
    child = undefined;
    await new Promise((resolve) => {
      dying.once('exit', resolve);
      dying.kill('SIGKILL');
    });
  };

  await start();
  return {
    url: `unix://${socket}`,
    socket,
    pid: () => child?.pid ?? 0,
    start,
    kill,
    hang: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    async close() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Whether the server answers PING. A server that is loading its file accepts connections too, but answers PING with an
 * error, as does one that needs a password.
 */
function answers(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createConnection(socket);
    probe.once('error', () => resolve(false));
    probe.once('data', (data) => {
      probe.destroy();
      resolve(/^(\+PONG|-NOAUTH)/.test(data.toString()));
    });
    probe.write('PING\r\n');
  });
}
