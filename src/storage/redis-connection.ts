import { Cluster } from 'ioredis';
import { GatewayError } from '../errors.ts';
import { inTime, PATIENCE } from './patience.ts';
import type { RedisClient } from './redis-target.ts';

export interface RedisConnection<Client extends RedisClient = RedisClient> {
  readonly client: Client;
  /**
   * Runs a command; it may ask how many milliseconds it has left. Throws GatewayError `store_unavailable` when it fails or
   * takes too long; the cause says why, in Redis' words and without what was sent.
   */
  call<T>(command: (client: Client, left: () => number) => Promise<T>): Promise<T>;
  close(): void;
}

/** Wraps a client so that it never keeps anybody waiting: a command is answered, or fails within a second. */
export function connectRedis<Client extends RedisClient>(client: Client): RedisConnection<Client> {
  // Every failed command tells its own cause; without a listener ioredis would print the same on standard error.
  let lastError: Error | undefined;
  const remember = (error: Error) => {
    lastError = error;
  };
  client.on('error', remember);
  client.on('node error', remember);
  client.on('ready', () => {
    lastError = undefined;
  });

  const connected = firstAttempt(client);
  const run = async <T>(command: (client: Client, left: () => number) => Promise<T>, left: () => number) => {
    await connected;
    for (;;) {
      // A Cluster that is not known yet would keep commands for as long as it takes.
      if (client instanceof Cluster && client.status !== 'ready') throw new Error('the Cluster cannot be reached');
      try {
        return await command(client, left);
      } catch (thrown) {
        // Nothing was written there; the client is on its way to the new primary.
        if (!(thrown instanceof Error && thrown.message.includes('READONLY'))) throw thrown;
        lastError = thrown;
        await new Promise<void>((resolve) => void client.once('ready', resolve));
      }
    }
  };
  return {
    client,
    async call(command) {
      try {
        return await inTime((left) => run(command, left));
      } catch (thrown) {
        throw new GatewayError('store_unavailable', { cause: new Error(reasonOf(lastError ?? thrown)) });
      }
    },
    close: () => client.disconnect(),
  };
}

/** In Redis' or the system's words. What ioredis adds to an error, the command and its arguments, may be a password. */
function reasonOf(thrown: unknown): string {
  const error = thrown as { message?: string; code?: string; lastNodeError?: Error };
  return (error.lastNodeError?.message || error.message || error.code || String(thrown)).trim();
}

/** Commands are not queued while there is no connection, so those from the very beginning wait for the first. */
function firstAttempt(client: RedisClient): Promise<void> {
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
