import { setTimeout as sleep } from 'node:timers/promises';
import type { SERVERS } from '../storage/sql/servers.ts';
import { type RedisProcess, startCluster } from '../support/redis-topology.ts';

/** Milliseconds for which a primary goes on without its replica before it dies: long enough for clients to repeat a request. */
const CUT_OFF = 2000;
/** Milliseconds until what a primary has acknowledged is with its replica. */
const REPLICATED = 1000;
/** Milliseconds until what it has acknowledged is in its append-only file, with `appendfsync everysec`. */
const WRITTEN = 2000;

/** A time in which Redis may lose what it acknowledged, in milliseconds of `performance.now()`. */
interface Exposed {
  readonly from: number;
  /** When the primary died. */
  readonly to: number;
}

/** A store that several gates share, on servers that can be killed. */
export interface SharedStore {
  /** The value of `store` in the configuration, as YAML. */
  readonly settings: string;
  readonly environment: Readonly<Record<string, string>>;
  /** By what happens. The first two are the short form. */
  readonly faults: Readonly<Record<string, () => Promise<void>>>;
  /** Filled in by the faults. */
  readonly exposed: readonly Exposed[];
  close(): Promise<void>;
}

/** Three primaries with a replica each. The gate's keys are in one slot, so most faults are about the primary that owns it. */
export async function clusterStore(minReplicas: number, appendFsync: 'always' | 'everysec'): Promise<SharedStore> {
  const { nodes, redis, ownerOf, replicaOf, close } = await startCluster(1, ['--appendfsync', appendFsync]);
  const owner = () => ownerOf('{coursegate}:expiry');
  const exposed: Exposed[] = [];
  const killed = async (primary: RedisProcess, before: number) => {
    await primary.kill();
    const to = performance.now();
    exposed.push({ from: to - before, to });
  };
  const replaced = async (fault: (primary: RedisProcess, replica: RedisProcess) => Promise<unknown>) => {
    const primary = await owner();
    const replica = await replicaOf(primary);
    await fault(primary, replica);
    while ((await owner()) !== replica) await sleep(20);
    if (!primary.running()) await primary.start();
  };
  const told = () =>
    replaced(async (_, replica) => {
      const accepts = () =>
        replica.admin.call('CLUSTER', 'FAILOVER').then(
          () => true,
          () => false,
        );
      // A replica refuses until it is connected to its primary, which may have been replaced a moment ago.
      while (!(await accepts())) await sleep(100);
    });
  const diedCutOff = () =>
    replaced(async (primary, replica) => {
      const from = performance.now();
      replica.hang();
      await primary.admin.call('CLIENT', 'KILL', 'TYPE', 'replica');
      await sleep(CUT_OFF);
      await killed(primary, performance.now() - from + REPLICATED);
      replica.resume();
    });
  const died = () => replaced((primary) => killed(primary, REPLICATED));
  const restarted = async () => {
    const primary = await owner();
    await killed(primary, WRITTEN);
    await primary.start();
  };
  const anotherRestarted = async () => {
    const primary = await owner();
    const other = redis.find((one) => one !== primary) as RedisProcess;
    await other.kill();
    await other.start();
  };
  const addresses = nodes.map(({ host, port }) => `"${host}:${port}"`);
  return {
    settings: `{ kind: redis, cluster: [${addresses}], minReplicas: ${minReplicas} }`,
    environment: {},
    faults: {
      'lost its replica, then died': diedCutOff,
      'was told to fail over': told,
      'was killed and started': restarted,
      'died and was replaced': died,
      'another node was killed and started': anotherRestarted,
    },
    exposed,
    close,
  };
}

export async function databaseStore(start: (typeof SERVERS)[number]['start']): Promise<SharedStore> {
  const server = await start();
  const restarted = async () => {
    await server.kill();
    await sleep(200);
    await server.start();
  };
  return {
    settings: `{ kind: ${server.kind}, url: { env: DATABASE_URL } }`,
    environment: { DATABASE_URL: await server.database('gate') },
    faults: { 'was killed and started': restarted },
    exposed: [],
    close: () => server.close(),
  };
}
