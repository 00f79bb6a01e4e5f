import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { REDIS } from './redis.ts';
import { freePort } from './world.ts';

/** A Redis process on a TCP port of the loopback interface. */
export interface RedisProcess {
  readonly port: number;
  readonly admin: Redis;
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
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  readonly masterName: string;
  /** The initial primary first, then its replicas. */
  readonly redis: readonly RedisProcess[];
}

/** Milliseconds that a primary must be silent before the Sentinels consider it down. */
export const DOWN_AFTER = 1000;

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
  readonly nodes: readonly { readonly host: string; readonly port: number }[];
  /** The primaries, in the order of their slots: the first owns the first third. */
  readonly redis: readonly RedisProcess[];
  /** The primary that owns a key's slot. */
  ownerOf(key: string): Promise<RedisProcess>;
}

const SLOTS = [
  [0, 5460],
  [5461, 10_922],
  [10_923, 16_383],
] as const;

/** Starts a Cluster of three primaries that share the slots. While one is down, the others still serve their slots. */
export const startCluster = (): Promise<RedisCluster> => severalTimes(tryCluster);

async function tryCluster(): Promise<RedisCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-cluster-'));
  const args = ['--save', '', '--appendonly', 'yes', '--cluster-enabled', 'yes', '--cluster-node-timeout', '1000'];
  args.push('--cluster-require-full-coverage', 'no');
  const redis: RedisProcess[] = [];
  const buses: number[] = [];
  try {
    for (const [at, [from, to]] of SLOTS.entries()) {
      // The cluster bus port defaults to the client port plus 10,000, which may be taken.
      const bus = await freePort();
      const own = [...args, '--cluster-port', String(bus)];
      const one = await redisProcess(join(folder, String(at)), await freePort(), own);
      await one.admin.cluster('SET-CONFIG-EPOCH', at + 1);
      await one.admin.call('CLUSTER', 'ADDSLOTSRANGE', from, to);
      redis.push(one);
      buses.push(bus);
    }
    for (const { admin } of redis) {
      await until(async () => {
        const said = (await admin.cluster('INFO')) as string;
        if (said.includes('cluster_state:ok') && said.includes('cluster_slots_assigned:16384')) return true;
        // A node forgets a MEET that was not answered within a second, so it is repeated.
        if (said.includes('cluster_known_nodes:3') === false) {
          for (const [at, { port }] of redis.entries()) {
            if (at === 0) continue;
            await redis[0]?.admin.call('CLUSTER', 'MEET', '127.0.0.1', port, buses[at] as number);
          }
        }
        return false;
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
      const slot = await redis[0]?.admin.cluster('KEYSLOT', key);
      const slots = (await redis[0]?.admin.cluster('SLOTS')) as unknown as [number, number, [string, number]][];
      const found = slots.find(([from, to]) => from <= Number(slot) && Number(slot) <= to);
      return redis.find(({ port }) => port === found?.[2][1]) as RedisProcess;
    },
    close: ending(folder, redis),
  };
}
