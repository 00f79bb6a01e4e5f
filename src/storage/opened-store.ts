import type { Config } from '../config/schema.ts';
import type { RedisSecrets } from '../config/secret-values.ts';
import type { RevocationBus } from './bus.ts';
import type { Counters } from './counters.ts';
import type { Secrets } from './seal.ts';
import type { Clock, RawStore } from './store.ts';

/** Secrets that the configuration refers to but does not contain. */
export interface StoreSecrets {
  readonly secret: string | undefined;
  readonly furtherSecrets?: readonly string[];
  readonly redis: RedisSecrets | undefined;
  /** The URL of a store in a database server, with its password. */
  readonly databaseUrl?: string | undefined;
}

/** The settings of one kind of store. */
export type StoreKind<Kind> = Extract<Config['store'], { readonly kind: Kind }>;

/** An opened store of one kind, and what its replicas share. */
export interface OpenedKind {
  readonly raw: RawStore;
  /** Further ones may be configured. */
  readonly secrets: Secrets;
  readonly bus?: RevocationBus;
  /**
   * Checks that the store can be used, and returns warnings for the operator. Throws GatewayError with a message for
   * them.
   */
  readonly check?: () => Promise<readonly string[]>;
  /** The counters for rate limits, shared by all replicas that share the store. */
  readonly counters?: Counters;
}

/** Opens a store of one kind. Throws GatewayError `store_unavailable`. */
export type OpenKind<Kind> = (config: StoreKind<Kind>, named: StoreSecrets, clock: Clock) => Promise<OpenedKind>;
