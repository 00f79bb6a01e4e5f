import type { Charge } from './quota.ts';

/**
 * The storage interface: a keyed table with expiry, four references to look up by, and one atomic write. All durable
 * state goes through it; a store knows nothing of OAuth. Every implementation must pass test/storage/conformance.ts.
 */
export interface Store {
  /** Returns the entry, or undefined if it is absent or expired. */
  get(kind: string, id: string): Promise<Entry | undefined>;
  /**
   * Returns at most `limit` unexpired entries of `kind` whose reference `name` has this value. Entries with equal
   * lifetimes come oldest first, to the second, even if they were overwritten since.
   */
  findBy(kind: string, name: ReferenceName, value: string, limit?: number): Promise<readonly Entry[]>;
  /**
   * Returns how many such entries there are. Cheap for any number; entries that have just expired may still be counted.
   */
  count(kind: string, name: ReferenceName, value: string): Promise<number>;
  /**
   * Iterates over the unexpired entries of these kinds, or of every kind, in one walk. An entry that exists throughout is
   * returned at least once. A later call may leave kinds out.
   * @param from where the last call left off; undefined: at the beginning
   * @param limit about how many entries to look at in this call, which may return none
   */
  scan(kinds: readonly string[] | undefined, from: string | undefined, limit: number): Promise<Scanned>;
  /**
   * Applies all mutations in order, atomically and durably, or none. Returns false, with nothing applied, if a guard
   * fails: `create` of an existing entry, `consume` of an entry that is absent, expired or already consumed, or `update`
   * of such an entry or of another revision. Charged entries stay within their quota. Depending on the quota, older entries are evicted in the same step, or
   * GatewayError `too_many_requests` is thrown with nothing applied. A commit of nothing makes what was read before as
   * durable as what this gate commits: a commit that was refused as unavailable may have been applied, and be read.
   */
  commit(mutations: readonly Mutation[], priority?: Priority): Promise<boolean>;
  /** Deletes at most `limit` expired entries and returns how many. */
  sweep(limit: number): Promise<number>;
  /**
   * Returns about `limit` deleted pages to the disk, or sets some aside for the reserve. Resolves with how many; 0 if
   * there is nothing left to do.
   */
  compact(limit: number): Promise<number>;
  close(): Promise<void>;
}
// Every method throws GatewayError `store_unavailable` if the store cannot do its work.

/**
 * `vital`: revokes access, or keeps a connection alive. Such writes may use the reserve when the disk is full. Ordinary
 * writes are refused a little before that, and charged entries first of all.
 */
export type Priority = 'ordinary' | 'vital';

export interface Scanned<T extends Entry = Entry> {
  readonly entries: readonly T[];
  /** Where the next call continues; undefined: there is no more. */
  readonly next: string | undefined;
  /** About how many entries were looked at. */
  readonly looked: number;
  /** About how many entries there are in total. Only known on the first call. */
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
  /** Unix seconds at which it was consumed. Set only by `consume`. */
  readonly consumedAt: number | undefined;
  /** 1 when the entry is new, and one more at each `put` and `update` of it. It is stored in clear. */
  readonly revision: number;
  readonly references: References;
}

/** What an entry counts towards as a store keeps it: the name of the quota, and its place in the order of eviction. */
export interface StoredCharge extends Omit<Charge, 'quota'> {
  readonly quota: string;
  /** The lowest of a quota is evicted first. Only the order means something. */
  readonly age: number;
}

/** All that is stored of an entry. */
export interface StoredEntry extends Entry {
  readonly charge?: StoredCharge | undefined;
}

/** Whether it has not expired. `now` is in Unix seconds. */
export function isAlive({ expiresAt = Number.POSITIVE_INFINITY }: Pick<Entry, 'expiresAt'>, now: number): boolean {
  return expiresAt > now;
}

/** An entry to write: never consumed yet. */
export type NewEntry = Omit<Entry, 'consumedAt' | 'revision'> & {
  /** Undefined: it was caused by a known member or app and counts towards no quota. */
  readonly charge?: Charge | undefined;
};

/**
 * `put` replaces payload, expiry, references and charge of an entry, and keeps its consumption and its age. `update` does
 * the same, but only while the entry has the revision that was read: of several writers that read the same one, one
 * succeeds.
 */
export type Mutation =
  | { readonly op: 'put'; readonly entry: NewEntry }
  | { readonly op: 'create'; readonly entry: NewEntry }
  | { readonly op: 'update'; readonly entry: NewEntry; readonly revision: number }
  | { readonly op: 'consume'; readonly kind: string; readonly id: string }
  | { readonly op: 'delete'; readonly kind: string; readonly id: string }
  | {
      readonly op: 'deleteBy';
      readonly kind: string;
      readonly name: ReferenceName;
      readonly value: string;
    };

/** Writes a new payload if the entry still has the payload `was`; otherwise does nothing. Keeps the revision. */
export interface Replacement {
  readonly op: 'replace';
  readonly kind: string;
  readonly id: string;
  readonly was: string;
  readonly payload: string;
}

/** Writes an entry as it was scanned in another store, with its use, revision and charge, in place of what is stored. Evicts nothing. */
export interface Restoration extends StoredEntry {
  readonly op: 'restore';
}

export type RawMutation = Mutation | Replacement | Restoration;

/** The store below the seal, which implementations provide. */
export interface RawStore extends Omit<Store, 'scan' | 'commit'> {
  scan(...given: Parameters<Store['scan']>): Promise<Scanned<StoredEntry>>;
  commit(mutations: readonly RawMutation[], priority?: Priority): Promise<boolean>;
}

/** Milliseconds since the epoch. Injected wherever time matters. */
export type Clock = () => number;

export function unixSeconds(clock: Clock): number {
  return Math.floor(clock() / 1000);
}

/** An entry with the value as JSON. `expiresAt` is in Unix seconds; undefined: never. */
export function jsonEntry(
  kind: string,
  id: string,
  value: unknown,
  expiresAt: number | undefined,
  references: References = {},
): NewEntry {
  return { kind, id, payload: JSON.stringify(value), expiresAt, references };
}

/** The value of an entry that was stored as JSON; undefined if there is none. */
export async function readJson<T>(store: Pick<Store, 'get'>, kind: string, id: string): Promise<T | undefined> {
  const entry = await store.get(kind, id);
  return entry === undefined ? undefined : (JSON.parse(entry.payload) as T);
}
