import { randomBytes } from 'node:crypto';
import type { RedisSecrets } from '../config/redis-secrets.ts';
import type { Config } from '../config/schema.ts';
import { NO_REPLICAS, type RevocationBus } from './bus.ts';
import type { Counters } from './counters.ts';
import { memoryStore } from './memory.ts';
import { memoryCounters } from './memory-counters.ts';
import { countedPlaces, type Places } from './places.ts';
import { writingProbe } from './probe.ts';
import { type Reseal, type Secrets, sealed } from './seal.ts';
import { secretsBeside } from './secret.ts';
import { sqliteStore } from './sqlite.ts';
import type { Clock, Store } from './store.ts';

export interface OpenedStore {
  readonly store: Store;
  /** What the store is sealed with, and every other key is derived from. */
  readonly secret: string;
  /** That one first, and those that open and verify besides. */
  readonly secrets: Secrets;
  readonly reseal: Reseal;
  readonly bus: RevocationBus;
  /** Sees that the store can be used. Out: what the operator should know. Throws GatewayError with a message for them. */
  readonly check: () => Promise<readonly string[]>;
  /** Writes to the store, at most once a second. Throws GatewayError `store_unavailable` when it takes no writes. */
  readonly probe: () => Promise<unknown>;
  /** What limits are counted with: for all replicas that share the store. */
  readonly counters: Counters;
  /** What sign-ins are limited by: exact among all processes of one gate, and of each replica for itself. */
  readonly places: Places;
}

/** What the configuration names and does not hold itself. */
export interface StoreSecrets {
  readonly secret: string | undefined;
  readonly furtherSecrets?: readonly string[];
  readonly redis: RedisSecrets | undefined;
}

const nothingToTell = async () => [];

/**
 * Opens the store that the configuration names, sealed. `onDamaged` hears of each entry that does not open, and is treated
 * as absent.  Throws GatewayError `store_unavailable`.
 */
export async function openStore(
  config: Config['store'],
  named: StoreSecrets,
  clock: Clock,
  onDamaged?: (kind: string, reason: unknown) => void,
): Promise<OpenedStore> {
  const further = named.furtherSecrets ?? [];
  switch (config.kind) {
    case 'memory': {
      const secret = named.secret ?? randomBytes(32).toString('base64url');
      const counters = memoryCounters(clock);
      return {
        ...sealed(memoryStore(clock), [secret, ...further], onDamaged),
        bus: NO_REPLICAS,
        counters,
        places: countedPlaces(counters, clock),
        check: nothingToTell,
        probe: nothingToTell,
      };
    }
    case 'redis': {
      // What another store does without is not loaded.
      const { openRedis } = await import('./open-redis.ts');
      return openRedis(config, named, clock, onDamaged);
    }
    case 'sqlite': {
      const inner = sqliteStore(config.path, clock);
      const counters = memoryCounters(clock);
      const [secret, ...own] = named.secret === undefined ? secretsBeside(config.path) : [named.secret];
      const opened = sealed(inner, [secret, ...own, ...further], onDamaged);
      return {
        ...opened,
        bus: NO_REPLICAS,
        counters,
        places: countedPlaces(counters, clock),
        check: nothingToTell,
        probe: writingProbe(opened.store, clock),
      };
    }
  }
}
