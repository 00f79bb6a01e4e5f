import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { Cluster, Redis } from 'ioredis';
import { PATIENCE } from './patience.ts';

interface RedisNode {
  readonly host: string;
  readonly port: number;
}

/** Where Redis is: one of `url`, `sentinels` with `masterName`, and `cluster`; and how one gets in. */
export interface RedisTarget {
  /** redis, rediss or unix. */
  readonly url?: string | undefined;
  readonly sentinels?: readonly RedisNode[] | undefined;
  readonly masterName?: string | undefined;
  /** Some nodes of a Cluster; they tell the others. */
  readonly cluster?: readonly RedisNode[] | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly sentinelUsername?: string | undefined;
  readonly sentinelPassword?: string | undefined;
  /** PEM texts of `ca`, `cert` and `key`, and `servername`. Undefined: no TLS, unless the URL says so. */
  readonly tls?: ConnectionOptions | undefined;
}

export type RedisClient = Redis | Cluster;

const RECONNECT_AT_MOST = 500;

const soon = (attempts: number) => Math.min(attempts * 50, RECONNECT_AT_MOST);

/** A connection that never keeps anybody waiting, and connects again by itself for as long as it takes. */
const IMPATIENT = {
  commandTimeout: PATIENCE,
  connectTimeout: PATIENCE,
  // A connection that was accepted and then says nothing (a hung server, a network that drops packets) is given up.
  socketTimeout: 2 * PATIENCE,
  // Nothing is sent a second time: a commit whose answer was lost may have been applied, and would then fail its own
  // guard. Zero also fails what is in flight when the connection ends, rather than leaving it to its timeout.
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  // A primary that became a replica in a failover: connect again, to whoever has its name now.
  reconnectOnError: (error: Error) => error.message.includes('READONLY'),
};

/** A client for commands. Those of a Cluster go to the primary of their slot. */
export function createRedisClient(target: RedisTarget): RedisClient {
  if (target.cluster === undefined) return singleClient(target);
  return new Cluster([...target.cluster], {
    // A node that is being connected to (after a MOVED) is waited for, within the patience of each command.
    enableOfflineQueue: true,
    scaleReads: 'master',
    maxRedirections: 4,
    // Nothing is sent a second time, but for what a node said it did not do (MOVED, ASK).
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    clusterRetryStrategy: soon,
    slotsRefreshTimeout: PATIENCE,
    slotsRefreshInterval: 5000,
    redisOptions: { ...IMPATIENT, ...access(target) },
  });
}

/** A client that listens. Every node of a Cluster hears what is published at any of them, so it stays with one. */
export function createRedisListener(target: RedisTarget): Redis {
  const nodes = target.cluster;
  if (nodes === undefined) return singleClient(target);
  const client: Redis = new Redis({
    ...IMPATIENT,
    ...access(target),
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
 * ioredis listens to the first error of a socket. TLS may have two, when a server refuses us after the handshake or is left
 * in the middle of it; one that nobody listens to would end the process. It makes connections of its own (to Sentinels, to
 * listen to a Cluster) that nobody else gets hold of, so all of them are met where they begin.
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

function singleClient(target: RedisTarget): Redis {
  const options = { ...IMPATIENT, enableOfflineQueue: false, retryStrategy: soon };
  if (target.sentinels === undefined) {
    return new Redis({ ...options, ...addressOf(target), ...access(target) });
  }
  return new Redis({
    ...options,
    ...access(target),
    sentinels: [...target.sentinels],
    name: target.masterName,
    sentinelUsername: target.sentinelUsername,
    sentinelPassword: target.sentinelPassword,
    sentinelCommandTimeout: PATIENCE,
    sentinelRetryStrategy: soon,
    // They are listened to as well: a failover is learned of even while the old primary still answers.
    failoverDetector: true,
    sentinelReconnectStrategy: soon,
    ...(target.tls === undefined ? {} : { sentinelTLS: target.tls, enableTLSForSentinelMode: true }),
  });
}

/** What goes over what the address says. */
function access({ username, password, tls }: RedisTarget) {
  return {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls === undefined ? {} : { tls }),
  };
}

function addressOf({ url = '' }: RedisTarget) {
  const { protocol, hostname, port, username, password, pathname } = new URL(url);
  const access = {
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
  };
  if (protocol === 'unix:') return { ...access, path: decodeURIComponent(pathname) };
  const db = Number(pathname.slice(1));
  return {
    ...access,
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? 6379 : Number(port),
    ...(Number.isInteger(db) ? { db } : {}),
    ...(protocol === 'rediss:' ? { tls: {} } : {}),
  };
}
