import { GatewayError } from '../../errors.ts';
import type { OpenedKind, StoreKind, StoreSecrets } from '../opened-store.ts';
import type { Clock } from '../store.ts';
import { redisBus } from './bus.ts';
import { redisCounters } from './counters.ts';
import { redisStore } from './redis-store.ts';
import { checkRedisAtStart } from './start.ts';

/** Opens a store in Redis. See openStore. */
export function openRedis(
  { kind, tls, ...settings }: StoreKind<'redis'>,
  { secret, redis }: StoreSecrets,
  clock: Clock,
): OpenedKind {
  // Loading the configuration fails earlier if these are missing.
  if (secret === undefined || redis === undefined) throw new GatewayError('internal');
  const options = { ...settings, ...redis, tls: tls && { ...tls, ...redis.tls } };
  const raw = redisStore(options, clock);
  return {
    raw,
    secrets: [secret],
    bus: redisBus(options),
    counters: redisCounters(options, secret, clock),
    check: () => checkRedisAtStart(options, raw),
  };
}
