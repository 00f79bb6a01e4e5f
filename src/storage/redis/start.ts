import { Cluster, type Redis } from 'ioredis';
import { GatewayError } from '../../errors.ts';
import { type Advice, startFailure, tryWhatIsDone } from '../start-check.ts';
import type { Store } from '../store.ts';
import { revocationChannel } from './bus.ts';
import { connectRedis } from './connection.ts';
import { infoOf } from './memory.ts';
import type { RedisOptions } from './redis-store.ts';
import { createRedisClient } from './target.ts';

/**
 * Tries the commands that a gate uses, and checks that Redis is configured to keep its data. Returns warnings for the
 * operator. Throws GatewayError `store_unavailable` with a message that says what is wrong and where to look.
 */
export async function checkRedisAtStart(options: RedisOptions, store: Store): Promise<readonly string[]> {
  const { keyPrefix } = options;
  const connection = connectRedis(createRedisClient(options));
  try {
    await tryWhatIsDone(store);
    await connection.call((client) => client.publish(revocationChannel(keyPrefix), ''));
    const nodes = await connection.call(async (client) =>
      client instanceof Cluster ? client.nodes('master') : [client],
    );
    const settings = await Promise.all(nodes.map((node) => durabilityOf(node)));
    return [...new Set(settings.flatMap((durability) => judge(durability, options)))];
  } catch (thrown) {
    throw startFailure(`Redis (keys {${keyPrefix}}:*)`, thrown, ADVICE, PASSES, (message) =>
      SILENT.test(message) ? 'it does not answer, or is still loading its data' : message,
    );
  } finally {
    connection.close();
  }
}

type Durability = Awaited<ReturnType<typeof durabilityOf>>;

/** A node's settings: from INFO, which managed services allow, and from CONFIG, which they often do not. */
async function durabilityOf(node: Redis) {
  const config = async (name: string) => {
    const [, value] = (await node.config('GET', name).catch(() => [])) as string[];
    return value;
  };
  const enabled = (await infoOf(node, 'persistence')).get('aof_enabled');
  return {
    evicts: (await infoOf(node, 'memory')).get('maxmemory_policy') ?? (await config('maxmemory-policy')),
    appendOnly: enabled === undefined ? await config('appendonly') : enabled === '1' ? 'yes' : 'no',
    appendFsync: await config('appendfsync'),
    minReplicasToWrite: await config('min-replicas-to-write'),
  };
}

function judge(
  { evicts, appendOnly, appendFsync, minReplicasToWrite }: Durability,
  { minReplicas = 0, sentinels, cluster }: RedisOptions,
): readonly string[] {
  if (evicts !== undefined && evicts !== 'noeviction') {
    const message = `its maxmemory-policy is ${evicts}: a used code that it evicts could be used again. Set \`maxmemory-policy noeviction\`.`;
    throw new GatewayError('store_unavailable', { cause: new Error(message) });
  }
  const failsOver = sentinels !== undefined || cluster !== undefined;
  const warnings: readonly (readonly [applies: boolean, text: string])[] = [
    [evicts === undefined, 'Redis does not report its maxmemory-policy: make sure that it is noeviction'],
    [appendOnly === undefined, 'Redis does not report whether it has an append-only file: make sure that it does'],
    [
      appendOnly === 'no',
      'Redis has no append-only file: if it restarts, all apps are disconnected and all members signed out',
    ],
    [
      appendOnly === 'yes' && appendFsync === 'no',
      'Redis does not sync its append-only file itself (appendfsync no): a crash can lose minutes of data',
    ],
    [
      failsOver && minReplicas === 0,
      'store.minReplicas is 0: writes acknowledged just before a failover may be lost, so that a used code could be used again',
    ],
    [
      failsOver && minReplicasToWrite === '0',
      'Redis accepts writes without a replica (min-replicas-to-write 0): a primary that is cut off continues, and its writes are lost',
    ],
  ];
  return warnings.flatMap(([applies, text]) => (applies ? [text] : []));
}

const ADVICE: Advice = [
  [/^(WRONGPASS|NOAUTH)|invalid password|without any password/, 'Check the user name and the password.'],
  [
    /^NOPERM|permission|can't (run|access)/,
    'Check the ACL of this user: config/examples/redis.yaml lists what it needs.',
  ],
  [
    /certificate|altname|SSL|TLS|EPROTO|CERT_/i,
    'Check `store.tls`: the CA, the name, and when the certificate expires.',
  ],
  [
    /ECONNRESET|hang up|Connection is closed/,
    'It closed the connection: check whether it uses TLS, or requires a client certificate (`store.tls`).',
  ],
  [/DB index is out of range/, 'Check the number of the database in `store.url`.'],
  [/cluster support disabled|^MOVED/, 'Use `store.cluster` for a Cluster, and `store.url` for any other Redis.'],
  [/^LOADING/, 'It is still loading its data: try again in a moment.'],
  [/^(MISCONF|OOM)/, 'It cannot write: check its disk, its memory and its log.'],
  [
    /^(BUSY|NOREPLICAS|READONLY|CLUSTERDOWN|MASTERDOWN)|non local key/,
    'It does not accept writes at the moment: check its log.',
  ],
  [/WRONGTYPE/, 'Another program has written keys with this prefix: choose another `store.keyPrefix`.'],
  [/noeviction/, ''],
];

/** What passes by itself when Redis has started, has loaded its data, or answers again. */
const PASSES =
  /^(LOADING|BUSY|NOREPLICAS|READONLY|CLUSTERDOWN|MASTERDOWN)|sentinels are unreachable|Cluster cannot be reached|replicas have the commit|does not answer/;

/** The words of ioredis and of our own timeouts for a Redis that is there, and silent or slow. */
const SILENT = /timed out|socket timeout|took too long|after its deadline|Stream isn't writeable/i;
