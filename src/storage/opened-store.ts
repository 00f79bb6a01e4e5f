import type { Config } from '../config/schema.ts';
import type { RedisSecrets } from '../config/secret-values.ts';
import type { RevocationBus } from './bus.ts';
import type { Counters } from './counters.ts';
import type { Places } from './places.ts';
import type { SealedStore } from './seal.ts';
import type { Clock } from './store.ts';

export interface OpenedStore extends SealedStore {
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
  /** The URL of a store in a database server, with its password. */
  readonly databaseUrl?: string | undefined;
}

/** What every store is opened with, besides its settings. */
export interface StoreOpening {
  readonly named: StoreSecrets;
  readonly clock: Clock;
  /** Called for each entry that cannot be decrypted; such an entry is treated as absent. */
  readonly onDamaged: ((kind: string, reason: unknown) => void) | undefined;
}

/** The settings of one kind of store. */
export type StoreKind<Kind> = Extract<Config['store'], { readonly kind: Kind }>;

/** Opens a store of one kind. Throws GatewayError `store_unavailable`. */
export type OpenKind<Kind> = (config: StoreKind<Kind>, opening: StoreOpening) => Promise<OpenedStore>;
