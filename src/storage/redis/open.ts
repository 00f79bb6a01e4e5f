import { GatewayError } from '../../errors.ts';
import type { OpenedStore, StoreKind, StoreOpening } from '../opened-store.ts';
import { countedPlaces } from '../places.ts';
import { writingProbe } from '../probe.ts';
import { sealed } from '../seal.ts';
import { redisBus } from './bus.ts';
import { redisCounters } from './counters.ts';
import { redisStore } from './redis-store.ts';
import { checkRedisAtStart } from './start.ts';

/** Opens a store in Redis. See openStore. */
export function openRedis(
  config: StoreKind<'redis'>,
  { named: { secret, furtherSecrets = [], redis }, clock, onDamaged }: StoreOpening,
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
