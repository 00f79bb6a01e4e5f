import type { Config } from '../config/schema.ts';
import { GatewayError } from '../errors.ts';
import type { OpenedStore, StoreSecrets } from './opened-store.ts';
import { countedPlaces } from './places.ts';
import { writingProbe } from './probe.ts';
import { redisStore } from './redis.ts';
import { redisBus } from './redis-bus.ts';
import { redisCounters } from './redis-counters.ts';
import { checkRedisAtStart } from './redis-start.ts';
import { sealed } from './seal.ts';
import type { Clock } from './store.ts';

type RedisConfig = Extract<Config['store'], { readonly kind: 'redis' }>;

/** Opens a store in Redis. See openStore. */
export function openRedis(
  config: RedisConfig,
  { secret, furtherSecrets = [], redis }: StoreSecrets,
  clock: Clock,
  onDamaged?: (kind: string, reason: unknown) => void,
): OpenedStore {
  // Loading the configuration fails earlier if these are missing.
  if (secret === undefined || redis === undefined) throw new GatewayError('internal');
  const { kind, tls, ...settings } = config;
  const options = { ...settings, ...redis, tls: tls === undefined ? undefined : { ...tls, ...redis.tls } };
  const inner = redisStore(options, clock);
  const counters = redisCounters({ ...options, secret }, clock);
  const opened = sealed(inner, [secret, ...furtherSecrets], onDamaged);
  return {
    ...opened,
    bus: redisBus(options),
    counters,
    places: countedPlaces(counters, clock),
    check: () => checkRedisAtStart(options, inner),
    probe: writingProbe(opened.store, clock),
  };
}
