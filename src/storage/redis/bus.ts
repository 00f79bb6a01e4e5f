import { busListeners, type RevocationBus } from '../bus.ts';
import { connectRedis } from './connection.ts';
import type { RedisOptions } from './redis-store.ts';
import { createRedisClient, createRedisListener } from './target.ts';

/**
 * Milliseconds between pings. A subscriber sends nothing else, so only a ping detects a connection that was silently
 * lost.
 */
const HEARTBEAT = 2000;

export const revocationChannel = (keyPrefix: string) => `{${keyPrefix}}:revoked`;

/**
 * Revocations by pub/sub, on separate connections: a subscribed connection can run few other commands, and an
 * announcement must not wait behind the store's commands.
 */
export function redisBus(options: RedisOptions): RevocationBus {
  const channel = revocationChannel(options.keyPrefix);
  const speaking = connectRedis(createRedisClient(options));
  const listening = connectRedis(createRedisListener(options));
  const { tellAll, subscribe } = busListeners();

  listening.client.on('message', tellAll);
  // Each new connection subscribes first and notifies the listeners only then: this covers revocations that it missed.
  listening.client.on('ready', () => {
    listening.client.subscribe(channel).then(tellAll, () => listening.client.disconnect(true));
  });
  const heartbeat = setInterval(() => {
    // A connection that does not respond is closed by its socket timeout. The next connection subscribes again.
    listening.client.ping().catch(() => {});
  }, HEARTBEAT).unref();

  return {
    async announce() {
      await speaking.call((client) => client.publish(channel, ''));
    },
    subscribe,
    async close() {
      clearInterval(heartbeat);
      speaking.close();
      listening.close();
    },
  };
}
