import { GatewayError } from '../../../src/errors.ts';
import { memoryStore } from '../../../src/storage/memory/memory-store.ts';
import { sealedStore } from '../../../src/storage/seal.ts';
import type { Clock, RawMutation, RawStore, Store } from '../../../src/storage/store.ts';

export const SECRET = 'k'.repeat(40);

/** Entries read at a time when a copy is made. */
const SCANNED = 500;

/**
 * The store that gates use, and a standby that gets each commit when it is told to: two real stores. The standby can take
 * over, without what it did not get.
 */
export interface Copies {
  readonly primary: () => Store;
  readonly standby: () => Store;
  readonly raw: () => RawStore;
  commit(...given: Parameters<RawStore['commit']>): Promise<boolean>;
  /** How many commits there were, and how many of them the standby has. */
  readonly written: () => number;
  readonly replicated: () => number;
  replicate(): Promise<void>;
  fail(): Promise<void>;
}

export function copies(clock: Clock): Copies {
  const opened = () => {
    const raw = memoryStore(clock);
    return { raw, store: sealedStore(raw, SECRET) };
  };
  let [primary, standby] = [opened(), opened()];
  let waiting: Parameters<RawStore['commit']>[] = [];
  let replicated = 0;
  return {
    primary: () => primary.store,
    standby: () => standby.store,
    raw: () => primary.raw,
    async commit(mutations, priority) {
      const held = await primary.raw.commit(mutations, priority);
      if (held && mutations.length > 0) waiting.push([mutations, priority]);
      return held;
    },
    written: () => replicated + waiting.length,
    replicated: () => replicated,
    async replicate() {
      for (const commit of waiting) await standby.raw.commit(...commit);
      replicated += waiting.length;
      waiting = [];
    },
    async fail() {
      waiting = [];
      await primary.raw.close();
      primary = standby;
      standby = opened();
      await copy(primary.raw, standby.raw);
    },
  };
}

/** More than the entries that are ever written here. */
const AGES = 2 ** 32;

/** What is copied is older than all that will be written. */
async function copy(from: RawStore, to: RawStore): Promise<void> {
  for (let next: string | undefined, begun = false; !begun || next !== undefined; begun = true) {
    const scanned = await from.scan(undefined, next, SCANNED);
    const restored = scanned.entries.map(({ charge, ...entry }): RawMutation => {
      return { op: 'restore', ...entry, charge: charge && { ...charge, age: charge.age - AGES } };
    });
    await to.commit(restored);
    next = scanned.next;
  }
}

export const unavailable = () => new GatewayError('store_unavailable');
