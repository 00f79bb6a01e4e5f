// The store: entries with expiry in SQLite, Redis or memory (store.ts is the interface), sealed at rest with the
// operator's secret (seal.ts), and with it the counters and limits that replicas share.

import { randomBytes } from 'node:crypto';
import type { Config } from '../config/schema.ts';
import { NO_REPLICAS } from './bus.ts';
import { memoryCounters } from './memory-counters.ts';
import type { OpenedStore, StoreSecrets } from './opened-store.ts';
import { countedPlaces } from './places.ts';
import { writingProbe } from './probe.ts';
import { type Secrets, sealed } from './seal.ts';
import { secretsBeside } from './secret.ts';
import { memoryStore, sqliteStore } from './sqlite.ts';
import type { Clock } from './store.ts';

const noWarnings = async () => [];

/**
 * Opens the configured store, sealed. `onDamaged` is called for each entry that cannot be decrypted; such an entry is
 * treated as absent. Throws GatewayError `store_unavailable`.
 */
export async function openStore(
  config: Config['store'],
  named: StoreSecrets,
  clock: Clock,
  onDamaged?: (kind: string, reason: unknown) => void,
): Promise<OpenedStore> {
  if (config.kind === 'redis') {
    // Loaded only if needed: other stores do not need the Redis client.
    const { openRedis } = await import('./open-redis.ts');
    return openRedis(config, named, clock, onDamaged);
  }
  const { secret, furtherSecrets = [] } = named;
  const counters = memoryCounters(clock);
  const unshared = { bus: NO_REPLICAS, counters, places: countedPlaces(counters, clock), check: noWarnings };
  if (config.kind === 'memory') {
    const secrets: Secrets = [secret ?? randomBytes(32).toString('base64url'), ...furtherSecrets];
    return { ...sealed(memoryStore(clock), secrets, onDamaged), ...unshared, probe: noWarnings };
  }
  const inner = sqliteStore(config.path, clock);
  const [first, ...older] = secret === undefined ? secretsBeside(config.path) : [secret];
  const opened = sealed(inner, [first, ...older, ...furtherSecrets], onDamaged);
  return { ...opened, ...unshared, probe: writingProbe(opened.store, clock) };
}
