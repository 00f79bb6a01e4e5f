import { randomBytes } from 'node:crypto';
import type { Config } from '../config/schema.ts';
import { GatewayError } from '../errors.ts';
import { NO_REPLICAS, type RevocationBus } from './bus.ts';
import { memoryStore } from './memory.ts';
import { redisStore } from './redis.ts';
import { redisBus } from './redis-bus.ts';
import { sealedStore } from './seal.ts';
import { secretBeside } from './secret.ts';
import { sqliteStore } from './sqlite.ts';
import type { Clock, Store } from './store.ts';

export interface OpenedStore {
  readonly store: Store;
  /** What the store is sealed with, and every other key is derived from. */
  readonly secret: string;
  readonly bus: RevocationBus;
}

/** What the configuration names and does not hold itself. */
export interface StoreSecrets {
  readonly secret: string | undefined;
  readonly storeUrl: string | undefined;
}

/** Opens the store that the configuration names, sealed. Throws GatewayError `store_unavailable`. */
export function openStore(config: Config['store'], named: StoreSecrets, clock: Clock): OpenedStore {
  switch (config.kind) {
    case 'memory': {
      const secret = named.secret ?? randomBytes(32).toString('base64url');
      return { store: sealedStore(memoryStore(clock), secret), secret, bus: NO_REPLICAS };
    }
    case 'redis': {
      const { secret, storeUrl: url } = named;
      // The loader refuses such a configuration.
      if (secret === undefined || url === undefined) throw new GatewayError('internal');
      const { keyPrefix } = config;
      const store = sealedStore(redisStore({ url, keyPrefix }, clock), secret);
      return { store, secret, bus: redisBus({ url, keyPrefix }) };
    }
    case 'sqlite': {
      const inner = sqliteStore(config.path, clock);
      const secret = named.secret ?? secretBeside(config.path);
      return { store: sealedStore(inner, secret), secret, bus: NO_REPLICAS };
    }
  }
}
