import { keysOf, planCommit } from '../../src/storage/sql/plan.ts';
import type { EntryKey } from '../../src/storage/sql/statements.ts';
import {
  type Entry,
  isAlive,
  type RawMutation,
  type ReferenceName,
  type StoredEntry,
} from '../../src/storage/store.ts';

interface Kept extends StoredEntry {
  /** The order in which entries were created. */
  readonly age: number;
}

/** What one commit replaced. Undefined: there was nothing. */
export type Undo = ReadonlyMap<string, Kept | undefined>;

/** The content of a store: what src/storage/store.ts says, without quotas, and with a way back. `now` is in Unix seconds. */
export function createEntries(now: () => number, before: ReadonlyMap<string, Kept> = new Map()) {
  const kept = new Map(before);
  let age = kept.size;
  const living = (key: string): Kept | undefined => {
    const entry = kept.get(key);
    return entry !== undefined && isAlive(entry, now()) ? entry : undefined;
  };
  const matching = (kind: string, name: ReferenceName, value: string): readonly Kept[] =>
    [...kept.values()]
      .filter((one) => one.kind === kind && one.references[name] === value && isAlive(one, now()))
      .toSorted((a, b) => (a.expiresAt ?? Infinity) - (b.expiresAt ?? Infinity) || a.age - b.age);

  return {
    get: (kind: string, id: string): Entry | undefined => living(keyOf(kind, id)),
    findBy: (kind: string, name: ReferenceName, value: string, limit = Infinity): readonly Entry[] =>
      matching(kind, name, value).slice(0, limit),
    count: (kind: string, name: ReferenceName, value: string): number => matching(kind, name, value).length,
    all: (kinds: readonly string[] | undefined): readonly StoredEntry[] =>
      [...kept.values()].filter((one) => isAlive(one, now()) && (kinds?.includes(one.kind) ?? true)),
    /** Returns what it replaced; undefined if a guard failed, and nothing was applied. Decides as the SQL stores do. */
    apply(mutations: readonly RawMutation[]): Undo | undefined {
      const named = keysOf(mutations).flatMap((one) => kept.get(keyOf(one.kind, one.id)) ?? []);
      const found = mutations.flatMap((one) =>
        one.op === 'deleteBy'
          ? [...kept.values()].filter(({ kind, references }) => kind === one.kind && references[one.name] === one.value)
          : [],
      );
      const held = [...new Set([...named, ...found])].map(({ payload: _, ...entry }) => ({ ...entry, charged: false }));
      const plan = planCommit(mutations, held, now());
      if (plan === undefined) return undefined;
      const undo = new Map<string, Kept | undefined>();
      const set = ({ kind, id }: EntryKey, change: (old: Kept | undefined) => Kept | undefined): void => {
        const key = keyOf(kind, id);
        const old = kept.get(key);
        const entry = change(old);
        undo.set(key, old);
        if (entry === undefined) kept.delete(key);
        else kept.set(key, entry);
      };
      for (const { charge: _, charged: __, ...entry } of [...plan.inserted, ...plan.overwritten]) {
        age += 1;
        set(entry, (old) => ({ ...entry, age: old?.age ?? age }));
      }
      for (const { consumedAt, ...entry } of plan.consumed) set(entry, (old) => old && { ...old, consumedAt });
      for (const entry of plan.removed) set(entry, () => undefined);
      return undo;
    },
    undo: (what: Undo): void => restore(kept, what),
    /** A copy to begin another store with. */
    copy: (): ReadonlyMap<string, Kept> => new Map(kept),
  };
}

function keyOf(kind: string, id: string): string {
  return `${kind}\0${id}`;
}

function restore(kept: Map<string, Kept>, undo: Undo): void {
  for (const [key, entry] of undo) {
    if (entry === undefined) kept.delete(key);
    else kept.set(key, entry);
  }
}
