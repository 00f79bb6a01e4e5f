import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { REDIS } from './redis.ts';
import { freePort } from './world.ts';

/** Debian has it in another package, which redis-server needs. */
const REDIS_CLI = join(dirname(REDIS ?? ''), 'redis-cli');

/** A Redis process on a TCP port of the loopback interface. */
export interface RedisProcess {
  readonly port: number;
  readonly admin: Redis;
  readonly running: () => boolean;
  kill(): Promise<void>;
  start(): Promise<void>;
  hang(): void;
  resume(): void;
}

/** Starts Redis in `folder` on `port`, with these command-line arguments. */
async function redisProcess(folder: string, port: number, args: readonly string[]): Promise<RedisProcess> {
  mkdirSync(folder, { recursive: true });
  const admin = new Redis({ port, retryStrategy: () => 20, maxRetriesPerRequest: null, lazyConnect: true });
  admin.on('error', () => {});
  let child: ChildProcess | undefined;
  const start = async () => {
    const spawned = spawn(REDIS ?? '', [...args, '--port', String(port), '--dir', folder], { stdio: 'ignore' });
    child = spawned;
    // The port may have been taken since it was found free.
    const died = new Promise<never>((_, reject) => {
      spawned.once('exit', (code) => reject(new Error(`the Redis at port ${port} ended: ${code}`)));
    });
    await Promise.race([admin.ping(), died]);
  };
  try {
    await start();
  } catch (thrown) {
    admin.disconnect();
    throw thrown;
  }
  return {
    port,
    admin,
    running: () => child !== undefined,
    start,
    async kill() {
      const dying = child;
      child = undefined;
      if (dying === undefined) return;
      await new Promise((resolve) => {
        dying.once('exit', resolve);
        dying.kill('SIGKILL');
      });
    },
    hang: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
  };
}

async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
  for (let tries = 0; !(await holds()); tries += 1) {
    if (tries === 600) throw new Error(`timed out waiting for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Retries, because another process on a busy machine may take a port between finding it free and listening on it. */
async function severalTimes<T>(start: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await start();
    } catch (thrown) {
      if (tries === 5) throw thrown;
    }
  }
}

interface Topology {
  close(): Promise<void>;
}

function ending(folder: string, processes: readonly RedisProcess[]): () => Promise<void> {
  return async () => {
    for (const one of processes) {
      one.admin.disconnect();
      await one.kill();
    }
    rmSync(folder, { recursive: true, force: true });
  };
}

export interface Sentinels extends Topology {
  readonly nodes: { readonly host: string; readonly port: number }[];
  readonly masterName: string;
  /** The initial primary first, then its replicas. */
  readonly redis: readonly RedisProcess[];
}

/** Milliseconds that a primary must be silent before the Sentinels consider it down. */
const DOWN_AFTER = 1000;

/** Starts a primary, two replicas and three Sentinels that watch them. `args` are additional settings of each Redis. */
export const startSentinels = (args: readonly string[] = []): Promise<Sentinels> =>
  severalTimes(() => trySentinels(args));

async function trySentinels(args: readonly string[]): Promise<Sentinels> {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-sentinel-'));
  const durable = ['--save', '', '--appendonly', 'yes', '--repl-diskless-sync-delay', '0', ...args];
  const primary = await redisProcess(join(folder, 'r0'), await freePort(), durable);
  const following = [...durable, '--replicaof', `127.0.0.1 ${primary.port}`];
  const replicas = [
    await redisProcess(join(folder, 'r1'), await freePort(), following),
    await redisProcess(join(folder, 'r2'), await freePort(), following),
  ];
  await until(async () => (await primary.admin.info('replication')).includes('connected_slaves:2'), 'replicas');
  const sentinels: RedisProcess[] = [];
  for (const name of ['s0', 's1', 's2']) {
    const file = join(folder, `${name}.conf`);
    writeFileSync(
      file,
      `sentinel monitor gate 127.0.0.1 ${primary.port} 2
sentinel down-after-milliseconds gate ${DOWN_AFTER}
sentinel failover-timeout gate 5000
sentinel parallel-syncs gate 2
`,
    );
    sentinels.push(await redisProcess(join(folder, name), await freePort(), [file, '--sentinel']));
  }
  for (const { admin } of sentinels) {
    await until(async () => {
      const said = (await admin.call('SENTINEL', 'MASTER', 'gate')) as string[];
      const of = (name: string) => said[said.indexOf(name) + 1];
      return of('num-slaves') === '2' && of('num-other-sentinels') === '2';
    }, 'Sentinels');
  }
  return {
    nodes: sentinels.map(({ port }) => ({ host: '127.0.0.1', port })),
    masterName: 'gate',
    redis: [primary, ...replicas],
    close: ending(folder, [...sentinels, primary, ...replicas]),
  };
}

export interface RedisCluster extends Topology {
  readonly nodes: { readonly host: string; readonly port: number }[];
  /** The initial primaries, in the order of their slots: the first owns the first third. Then their replicas. */
  readonly redis: readonly RedisProcess[];
  /** The primary that owns a key's slot. */
  ownerOf(key: string): Promise<RedisProcess>;
  /** A replica of this primary, once there is one. */
  replicaOf(primary: RedisProcess): Promise<RedisProcess>;
}

const PRIMARIES = 3;

/** Milliseconds that a node of the Cluster must be silent before the others consider it down. */
const NODE_TIMEOUT = 1000;

/**
 * Starts a Cluster of three primaries that share the slots, each with this many replicas. While a primary is down, the
 * others still serve their slots. `args` are additional settings of each Redis.
 */
export const startCluster = (replicas = 0, args: readonly string[] = []): Promise<RedisCluster> =>
  severalTimes(() => tryCluster(replicas, args));

async function tryCluster(replicas: number, given: readonly string[]): Promise<RedisCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-cluster-'));
  const args = ['--save', '', '--appendonly', 'yes', '--repl-diskless-sync-delay', '0', '--cluster-enabled', 'yes'];
  args.push('--cluster-node-timeout', String(NODE_TIMEOUT), '--cluster-require-full-coverage', 'no', ...given);
  const redis: RedisProcess[] = [];
  const addresses: string[] = [];
  /** What a node says about itself: its id, the primary that it follows, and its slots. */
  const selfOf = async ({ admin }: RedisProcess) => {
    const said = String(await admin.cluster('NODES')).split('\n');
    const [id, , , follows, , , epoch, , ...slots] = (said.find((line) => line.includes('myself')) ?? '').split(' ');
    const ranges = slots.map((range) => range.split('-').map(Number));
    const owns = (slot: number) => ranges.some(([from = NaN, to = from]) => from <= slot && slot <= to);
    return { id, follows, epoch: Number(epoch), owns, nodes: said.length - 1 };
  };
  const running = () => redis.filter((one) => one.running());
  try {
    for (let at = 0; at < PRIMARIES * (1 + replicas); at += 1) {
      // The cluster bus port defaults to the client port plus 10,000, which may be taken.
      const bus = await freePort();
      const one = await redisProcess(join(folder, String(at)), await freePort(), [...args, '--cluster-port', `${bus}`]);
      redis.push(one);
      addresses.push(`127.0.0.1:${one.port}@${bus}`);
    }
    const create = ['--cluster', 'create', ...addresses, '--cluster-replicas', String(replicas), '--cluster-yes'];
    await promisify(execFile)(REDIS_CLI, create, { timeout: 60_000 });
    for (const one of redis) {
      await until(async () => {
        const state = String(await one.admin.cluster('INFO'));
        const { nodes } = await selfOf(one);
        return state.includes('cluster_state:ok') && nodes === redis.length;
      }, 'the Cluster');
    }
  } catch (thrown) {
    await ending(folder, redis)();
    throw thrown;
  }
  return {
    nodes: redis.map(({ port }) => ({ host: '127.0.0.1', port })),
    redis,
    async ownerOf(key) {
      let owner: RedisProcess | undefined;
      await until(async () => {
        const slot = Number(await running()[0]?.admin.cluster('KEYSLOT', key));
        const known = await Promise.all(running().map(async (one) => ({ one, ...(await selfOf(one)) })));
        // A primary that was replaced while it was down claims its slots until it hears of it.
        owner = known.filter(({ owns }) => owns(slot)).toSorted((a, b) => b.epoch - a.epoch)[0]?.one;
        return owner !== undefined;
      }, 'an owner');
      return owner as RedisProcess;
    },
    async replicaOf(primary) {
      let replica: RedisProcess | undefined;
      await until(async () => {
        const { id } = await selfOf(primary);
        const known = await Promise.all(running().map(async (one) => ({ one, ...(await selfOf(one)) })));
        replica = known.find(({ follows }) => follows === id)?.one;
        return replica !== undefined && (await replica.admin.info('replication')).includes('master_link_status:up');
      }, 'a replica');
      return replica as RedisProcess;
    },
    close: ending(folder, redis),
  };
}
