import { Cluster } from 'ioredis';
import { GatewayError } from '../../errors.ts';
import { inTime, PATIENCE } from '../patience.ts';
import type { RedisClient } from './target.ts';

/** Wraps a client so that no caller waits long: a command succeeds, or fails within a second. */
export function connectRedis<Client extends RedisClient>(client: Client) {
  // Every failed command reports its own cause. Without a listener, ioredis would print the error on standard error
  // too.
  let lastError: Error | undefined;
  const remember = (error: Error) => {
    lastError = error;
  };
  client.on('error', remember);
  client.on('node error', remember);
  client.on('ready', () => {
    lastError = undefined;
  });

  // ioredis gives up if a Sentinel announces a failover while it asks for the primary.
  let closed = false;
  client.on('end', () => {
    if (!closed) client.connect().catch(remember);
  });

  const connected = firstAttempt(client);
  const run = async <T>(command: (client: Client, left: () => number) => Promise<T>, left: () => number) => {
    await connected;
    for (;;) {
      // A Cluster whose nodes are not known yet would queue commands without a time limit.
      if (client instanceof Cluster && client.status !== 'ready') throw new Error('the Cluster cannot be reached');
      try {
        return await command(client, left);
      } catch (thrown) {
        // A replica refused the write, so nothing was written. The client is reconnecting to the new primary.
        if (!(thrown instanceof Error && thrown.message.includes('READONLY'))) throw thrown;
        lastError = thrown;
        await new Promise<void>((resolve) => void client.once('ready', resolve));
      }
    }
  };
  return {
    client,
    /**
     * Runs a command, which can ask how many milliseconds are left. Throws GatewayError `store_unavailable` if it fails
     * or takes too long. The cause contains Redis' own message, without the command that was sent.
     */
    async call<T>(command: (client: Client, left: () => number) => Promise<T>): Promise<T> {
      try {
        return await inTime((left) => run(command, left));
      } catch (thrown) {
        throw new GatewayError('store_unavailable', { cause: new Error(reasonOf(lastError ?? thrown)) });
      }
    },
    close() {
      closed = true;
      client.disconnect();
    },
  };
}

/**
 * The message of Redis or the operating system only. ioredis adds the command and its arguments to an error, which may
 * contain a password.
 */
function reasonOf(thrown: unknown): string {
  const error = thrown as { message?: string; code?: string; lastNodeError?: Error };
  return (error.lastNodeError?.message || error.message || error.code || String(thrown)).trim();
}

/**
 * Commands are not queued while there is no connection, so the very first ones wait for the first connection attempt.
 */
function firstAttempt(client: RedisClient): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, PATIENCE);
    for (const event of ['ready', 'close', 'end'] as const)
      client.once(event, () => {
        clearTimeout(timer);
        resolve();
      });
  });
}
