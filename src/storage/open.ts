// The store: entries with expiry in SQLite, Redis or memory (store.ts is the interface), sealed at rest with the
// operator's secret (seal.ts), and with it the counters and limits that replicas share.

import { randomBytes } from 'node:crypto';
import type { Config } from '../config/schema.ts';
import type { RedisSecrets } from '../config/secret-values.ts';
import { NO_REPLICAS, type RevocationBus } from './bus.ts';
import type { Counters } from './counters.ts';
import { memoryCounters } from './memory-counters.ts';
import { countedPlaces, type Places } from './places.ts';
import { writingProbe } from './probe.ts';
import { type Reseal, type Secrets, sealed } from './seal.ts';
import { secretsBeside } from './secret.ts';
import { memoryStore, sqliteStore } from './sqlite.ts';
import type { Clock, Store } from './store.ts';

export interface OpenedStore {
  readonly store: Store;
  /** The secret that the store is sealed with and that every other key is derived from. */
  readonly secret: string;
  /** The same secret first, then the further ones that may open and verify. */
  readonly secrets: Secrets;
  readonly reseal: Reseal;
  readonly bus: RevocationBus;
  /**
   * Checks that the store can be used, and returns warnings for the operator. Throws GatewayError with a message for
   * them.
   */
  readonly check: () => Promise<readonly string[]>;
  /** Writes to the store, at most once a second. Throws GatewayError `store_unavailable` if writing fails. */
  readonly probe: () => Promise<unknown>;
  /** The counters for rate limits, shared by all replicas that share the store. */
  readonly counters: Counters;
  /** The limits for sign-ins: exact within one replica, not across replicas. */
  readonly places: Places;
}

/** Secrets that the configuration refers to but does not contain. */
export interface StoreSecrets {
  readonly secret: string | undefined;
  readonly furtherSecrets?: readonly string[];
  readonly redis: RedisSecrets | undefined;
}

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
