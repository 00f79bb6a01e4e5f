import { isAlive, type NewEntry, type RawMutation } from '../store.ts';
import type { EntryKey, HeldEntry, WrittenEntry } from './statements.ts';

/** The keys that mutations name, and so have to lock, in one order for all gates. */
export function keysOf(mutations: readonly RawMutation[]): readonly EntryKey[] {
  const named = mutations.flatMap((mutation): readonly EntryKey[] => {
    if ('entry' in mutation) return [mutation.entry];
    return mutation.op === 'deleteBy' || mutation.op === 'replace' ? [] : [mutation];
  });
  const unique = new Map(named.map(({ kind, id }) => [`${kind}\0${id}`, { kind, id }]));
  return [...unique].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key);
}

/**
 * Applies mutations in order to what is stored, without writing anything. Returns what has to be written, or undefined if
 * a guard fails.
 * @param locked the stored entries that the mutations name or find
 */
export function planCommit(mutations: readonly RawMutation[], locked: readonly HeldEntry[], now: number) {
  const keyOf = ({ kind, id }: EntryKey) => `${kind}\0${id}`;
  const before = new Map(locked.map((entry) => [keyOf(entry), entry]));
  const after = new Map<string, HeldEntry | WrittenEntry>(before);
  const isHeld = (entry: HeldEntry | undefined): entry is HeldEntry => entry !== undefined && isAlive(entry, now);

  const written = (entry: NewEntry, held: HeldEntry | undefined): WrittenEntry => ({
    ...entry,
    consumedAt: held?.consumedAt,
    revision: (held?.revision ?? 0) + 1,
    charged: entry.charge !== undefined,
  });

  for (const mutation of mutations) {
    const key = 'entry' in mutation ? keyOf(mutation.entry) : 'id' in mutation ? keyOf(mutation) : '';
    const held = after.get(key);
    switch (mutation.op) {
      case 'put':
        after.set(key, written(mutation.entry, held));
        break;
      case 'create':
        if (isHeld(held)) return undefined;
        after.set(key, written(mutation.entry, undefined));
        break;
      case 'update':
        if (!isHeld(held) || held.consumedAt !== undefined || held.revision !== mutation.revision) return undefined;
        after.set(key, written(mutation.entry, held));
        break;
      case 'consume':
        if (!isHeld(held) || held.consumedAt !== undefined) return undefined;
        after.set(key, { ...held, consumedAt: now });
        break;
      case 'delete':
        after.delete(key);
        break;
      case 'deleteBy':
        for (const [found, { kind, references }] of after) {
          if (kind === mutation.kind && references[mutation.name] === mutation.value) after.delete(found);
        }
        break;
      case 'restore': {
        const { op: _, ...entry } = mutation;
        after.set(key, { ...entry, charged: entry.charge !== undefined });
        break;
      }
      case 'replace':
        break;
    }
  }

  // In the order of the locks, so that two gates that insert the same wait for each other and do not deadlock.
  const changed = [...after]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .filter(([key, entry]) => entry !== before.get(key));
  const rewritten = changed.flatMap(([key, entry]) => ('payload' in entry ? [{ key, entry }] : []));
  const removed = [...before].flatMap(([key, entry]) => (after.has(key) ? [] : [entry]));
  const replaced = rewritten.flatMap(({ key }) => before.get(key) ?? []);
  return {
    inserted: rewritten.flatMap(({ key, entry }) => (before.has(key) ? [] : [entry])),
    overwritten: rewritten.flatMap(({ key, entry }) => (before.has(key) ? [entry] : [])),
    consumed: changed.flatMap(([, entry]) => ('payload' in entry ? [] : [entry])),
    removed,
    /** The entries that no longer count towards the quota that they did. */
    released: [...removed, ...replaced].filter(({ charged }) => charged),
  };
}
