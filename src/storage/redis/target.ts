import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { Cluster, Redis } from 'ioredis';
import type { RedisSecrets } from '../../config/secret-values.ts';
import { socketHost } from '../../http/host.ts';
import type { StoreKind } from '../opened-store.ts';
import { PATIENCE } from '../patience.ts';

type Configured = Omit<StoreKind<'redis'>, 'kind' | 'keyPrefix' | 'minReplicas' | keyof RedisSecrets> & RedisSecrets;

/**
 * The address of Redis and the credentials for it, as they are configured: one of `url`, `sentinels` with `masterName`, and
 * `cluster`, some nodes of a Cluster, from which the others are discovered.
 */
export interface RedisTarget extends Partial<Omit<Configured, 'tls'>> {
  /** PEM texts for `ca`, `cert` and `key`, and `servername`. Undefined: no TLS, unless the URL asks for it. */
  readonly tls?: ConnectionOptions | undefined;
}

export type RedisClient = Redis | Cluster;

const RECONNECT_AT_MOST = 500;

const soon = (attempts: number) => Math.min(attempts * 50, RECONNECT_AT_MOST);

/** A connection that never blocks callers for long, and that reconnects by itself for as long as it takes. */
const IMPATIENT = {
  commandTimeout: PATIENCE,
  connectTimeout: PATIENCE,
  // Closes a connection that was accepted and then stays silent (a hung server, a network that drops packets).
  socketTimeout: 2 * PATIENCE,
  // Nothing is sent twice: a commit whose answer was lost may have been applied, and would then fail its own guard.
  // Zero also fails what is in flight when the connection ends, rather than leaving it to its timeout.
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  // A primary became a replica in a failover: reconnect to the current primary.
  reconnectOnError: (error: Error) => error.message.includes('READONLY'),
};

/** A client for commands. Commands in a Cluster go to the primary of their slot. */
export function createRedisClient(target: RedisTarget): RedisClient {
  const { cluster, username, password, tls } = target;
  if (cluster === undefined) return singleClient(target);
  return new Cluster([...cluster], {
    // Waits for a node that is still being connected to (after a MOVED), within the timeout of each command.
    enableOfflineQueue: true,
    scaleReads: 'master',
    maxRedirections: 4,
    // Nothing is sent twice, except when a node said that it did not execute the command (MOVED, ASK).
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    clusterRetryStrategy: soon,
    slotsRefreshTimeout: PATIENCE,
    slotsRefreshInterval: 5000,
    redisOptions: { ...IMPATIENT, username, password, tls },
  });
}

/**
 * A client for subscriptions. Every node of a Cluster receives what is published at any node, so one connection is
 * enough.
 */
export function createRedisListener(target: RedisTarget): Redis {
  const { cluster: nodes, username, password, tls } = target;
  if (nodes === undefined) return singleClient(target);
  const client: Redis = new Redis({
    ...IMPATIENT,
    ...{ username, password, tls },
    ...nodes[0],
    enableOfflineQueue: false,
    retryStrategy(attempts) {
      Object.assign(client.options, nodes[attempts % nodes.length]);
      return soon(attempts);
    },
  });
  return client;
}

/**
 * ioredis listens only for the first error of a socket. A TLS socket may emit two, when a server refuses us after the
 * handshake or the handshake is interrupted, and an error without a listener would end the process. ioredis also opens
 * connections that we have no access to (to Sentinels, for subscriptions in a Cluster), so the listener is added where
 * every connection is opened.
 */
const guarded = new WeakSet<object>();
const connect = Redis.prototype.connect;
Redis.prototype.connect = function (this: Redis, ...given) {
  const { connector } = this as unknown as { connector: { connect(...given: unknown[]): Promise<Socket> } };
  if (!guarded.has(connector)) {
    guarded.add(connector);
    const open = connector.connect.bind(connector);
    connector.connect = async (...given) => (await open(...given)).on('error', () => {});
  }
  return connect.apply(this, given);
};

/**
 * ioredis also sends these on its own and does not look at their answers: SUBSCRIBE after a reconnect (to Sentinels, and
 * to Redis), and ASKING to a node of a Cluster to which a slot is moving. Such a rejection has no handler, which would
 * end the process. What depends on the command fails by itself. Callers still get the rejection.
 */
for (const name of ['subscribe', 'asking'] as const) {
  const send = Redis.prototype[name] as (this: Redis, ...given: unknown[]) => Promise<unknown>;
  Object.assign(Redis.prototype, {
    [name](this: Redis, ...given: unknown[]) {
      const answer = send.apply(this, given);
      answer.catch(() => {});
      return answer;
    },
  });
}

function singleClient(target: RedisTarget): Redis {
  const options = { ...IMPATIENT, enableOfflineQueue: false, retryStrategy: soon };
  const { sentinels, username, password, tls } = target;
  if (sentinels === undefined) return new Redis({ ...options, ...addressOf(target) });
  return new Redis({
    ...options,
    ...{ username, password, tls },
    sentinels: [...sentinels],
    name: target.masterName,
    sentinelUsername: target.sentinelUsername,
    sentinelPassword: target.sentinelPassword,
    sentinelCommandTimeout: PATIENCE,
    sentinelRetryStrategy: soon,
    // Subscribes to the Sentinels, so that a failover is noticed even while the old primary still answers.
    failoverDetector: true,
    sentinelReconnectStrategy: soon,
    sentinelTLS: tls,
    enableTLSForSentinelMode: tls !== undefined,
  });
}

/** Credentials of their own override those in the URL. */
function addressOf({ url = '', tls, ...own }: RedisTarget) {
  const { protocol, hostname, port, username, password, pathname } = new URL(url);
  const access = {
    username: own.username ?? (decodeURIComponent(username) || undefined),
    password: own.password ?? (decodeURIComponent(password) || undefined),
    tls: tls ?? (protocol === 'rediss:' ? {} : undefined),
  };
  if (protocol === 'unix:') return { ...access, path: decodeURIComponent(pathname) };
  const db = Number(pathname.slice(1));
  return {
    ...access,
    host: socketHost(hostname),
    port: port === '' ? 6379 : Number(port),
    ...(Number.isInteger(db) && { db }),
  };
}
