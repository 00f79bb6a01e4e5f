import type { Charge } from './quota.ts';

/**
 * The storage seam: a keyed table with expiry, four references to look up by, and one atomic write.
 * Everything durable goes through it; a store knows nothing of OAuth. Implementations pass test/storage/conformance.ts.
 */
export interface Store {
  /** Out: the entry, or undefined when it is absent or past its expiry. */
  get(kind: string, id: string): Promise<Entry | undefined>;
  /**
   * Out: the unexpired entries of `kind` whose reference `name` has this value, at most `limit` of them. Of entries that
   * are all kept equally long, the oldest come first, to the second, whatever was written over them since.
   */
  findBy(kind: string, name: ReferenceName, value: string, limit?: number): Promise<readonly Entry[]>;
  /** Out: how many those are. Costs next to nothing, however many; of those just expired, some may still count. */
  count(kind: string, name: ReferenceName, value: string): Promise<number>;
  /**
   * Walks the unexpired entries of `kind`, or of every kind: what is there all the while comes at least once. In: where the
   * last call left off (undefined: at the beginning), and about how many to look at in this one, which may find none.
   */
  scan(kind: string | undefined, from: string | undefined, limit: number): Promise<Scanned>;
  /**
   * Applies all mutations in order, atomically and durably, or none. Out: false, with nothing applied, when a guard
   * fails: `create` of what exists, `consume` of what is absent, expired or consumed already. Charged entries stay
   * within their quota: in the same step older ones are evicted, or GatewayError `too_many_requests` is thrown with
   * nothing applied, as the quota says.
   */
  commit(mutations: readonly Mutation[], priority?: Priority): Promise<boolean>;
  /** Deletes at most `limit` expired entries. Out: how many. */
  sweep(limit: number): Promise<number>;
  /**
   * Gives about `limit` pages of what was deleted back to the disk, or sets some aside for the reserve. Resolves with how
   * many; 0 when there is nothing left to do.
   */
  compact(limit: number): Promise<number>;
  close(): Promise<void>;
}
// Every method throws GatewayError `store_unavailable` when the store cannot do its work.

/**
 * `vital`: takes access away, or keeps a connection alive. It may use the reserve when the disk is full. Everything else
 * is refused a little before that, and charged entries first.
 */
export type Priority = 'ordinary' | 'vital';

interface Scanned {
  readonly entries: readonly Entry[];
  /** Where the next call goes on; undefined: that was all. */
  readonly next: string | undefined;
  /** About how many entries were looked at. */
  readonly looked: number;
  /** About how many there are to look at from the beginning on; known at the first call. */
  readonly total: number | undefined;
}

export type ReferenceName = 'grant' | 'member' | 'client' | 'uid';

export type References = Readonly<Partial<Record<ReferenceName, string>>>;

export const REFERENCE_NAMES: readonly ReferenceName[] = ['grant', 'member', 'client', 'uid'];

export interface Entry {
  readonly kind: string;
  readonly id: string;
  readonly payload: string;
  /** Unix seconds; undefined: never. */
  readonly expiresAt: number | undefined;
  /** Unix seconds of the one consumption; set by `consume` only. */
  readonly consumedAt: number | undefined;
  readonly references: References;
}

/** What a caller writes: an entry is born unconsumed. */
export type NewEntry = Omit<Entry, 'consumedAt'> & {
  /** Undefined: its author is known, and it counts towards no quota. */
  readonly charge?: Charge | undefined;
};

/**
 * `put` replaces payload, expiry, references and charge of an entry, and keeps its consumption and its age.
 */
export type Mutation =
  | { readonly op: 'put'; readonly entry: NewEntry }
  | { readonly op: 'create'; readonly entry: NewEntry }
  | { readonly op: 'consume'; readonly kind: string; readonly id: string }
  | { readonly op: 'delete'; readonly kind: string; readonly id: string }
  | {
      readonly op: 'deleteBy';
      readonly kind: string;
      readonly name: ReferenceName;
      readonly value: string;
    };

/** Writes another payload where the one that was read still stands, and is nothing elsewhere. */
export interface Replacement {
  readonly op: 'replace';
  readonly kind: string;
  readonly id: string;
  readonly was: string;
  readonly payload: string;
}

/** What a store keeps its entries in, below the seal. */
export interface RawStore extends Omit<Store, 'commit'> {
  commit(mutations: readonly (Mutation | Replacement)[], priority?: Priority): Promise<boolean>;
}

/** Milliseconds since the epoch: injected wherever time matters. */
export type Clock = () => number;

export function unixSeconds(clock: Clock): number {
  return Math.floor(clock() / 1000);
}
