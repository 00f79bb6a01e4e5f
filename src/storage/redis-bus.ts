import type { RevocationBus } from './bus.ts';
import type { RedisOptions } from './redis.ts';
import { connectRedis } from './redis-connection.ts';
import { createRedisClient, createRedisListener } from './redis-target.ts';

/** A subscriber sends nothing, so only this finds a connection that has silently gone. */
const HEARTBEAT = 2000;

export const revocationChannel = (keyPrefix: string) => `{${keyPrefix}}:revoked`;

/**
 * Revocations by pub/sub, on connections of their own: one that listens can do little else, and what is announced must
 * not wait behind what the store is asked.
 */
export function redisBus(options: RedisOptions): RevocationBus {
  const channel = revocationChannel(options.keyPrefix);
  const speaking = connectRedis(createRedisClient(options));
  const listening = connectRedis(createRedisListener(options));
  const listeners: (() => void)[] = [];
  const tellAll = () => {
    for (const listener of listeners) listener();
  };

  listening.client.on('message', tellAll);
  // Each new connection subscribes anew, and only then tells: what was revoked before it could hear is covered so.
  listening.client.on('ready', () => {
    listening.client.subscribe(channel).then(tellAll, () => listening.client.disconnect(true));
  });
  const heartbeat = setInterval(() => {
    // A connection that does not answer is given up by its socket timeout; the next one subscribes.
    listening.client.ping().catch(() => {});
  }, HEARTBEAT).unref();

  return {
    async announce() {
      await speaking.call((client) => client.publish(channel, ''));
    },
    subscribe(listener) {
      listeners.push(listener);
    },
    async close() {
      clearInterval(heartbeat);
      speaking.close();
      listening.close();
    },
  };
}
