import { Redis } from 'ioredis';
import { GatewayError } from '../errors.ts';

/** Milliseconds: with the work around it, a request learns within a second that Redis does not answer. */
export const PATIENCE = 800;
const RECONNECT_AT_MOST = 500;

export interface RedisConnection {
  readonly client: Redis;
  /** Runs a command. Throws GatewayError `store_unavailable` when it fails or takes too long; the cause says why. */
  call<T>(command: (client: Redis) => Promise<T>): Promise<T>;
  close(): void;
}

/**
 * One connection to Redis that never keeps anybody waiting: a command is answered, or fails within a second. It connects
 * again by itself for as long as it takes. In: a redis, rediss or unix URL.
 */
export function connectRedis(url: string): RedisConnection {
  const client = new Redis(url, {
    commandTimeout: PATIENCE,
    connectTimeout: PATIENCE,
    // A connection that was accepted and then says nothing (a hung server, a network that drops packets) is given up.
    socketTimeout: 2 * PATIENCE,
    enableOfflineQueue: false,
    // Nothing is sent a second time: a commit whose answer was lost may have been applied, and would then fail its own
    // guard. Zero also fails what is in flight when the connection ends, rather than leaving it to its timeout.
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    retryStrategy: (attempts) => Math.min(attempts * 50, RECONNECT_AT_MOST),
    // A primary that became a replica in a failover: connect again, to whoever has its name now.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  });
  // Every failed command tells its own cause; without a listener ioredis would print the same on standard error.
  let lastError: Error | undefined;
  client.on('error', (error: Error) => {
    lastError = error;
  });
  client.on('ready', () => {
    lastError = undefined;
  });

  const connected = firstAttempt(client);
  return {
    client,
    async call(command) {
      await connected;
      try {
        return await command(client);
      } catch (thrown) {
        throw new GatewayError('store_unavailable', { cause: lastError ?? thrown });
      }
    },
    close: () => client.disconnect(),
  };
}

/** Commands are not queued while there is no connection, so those from the very beginning wait for the first. */
function firstAttempt(client: Redis): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, PATIENCE);
    for (const event of ['ready', 'close', 'end'] as const) {
      client.once(event, () => {
        clearTimeout(timer);
        resolve();
      });
    }
  });
}
