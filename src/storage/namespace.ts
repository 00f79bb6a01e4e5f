// A part of a store for one school. It is below the seal, so that every kind of store has it.

import type { Counters } from './counters.ts';
import type { RawMutation, RawStore, StoredEntry } from './store.ts';

/** Between the id of a school and a kind. No kind has it. */
const SEPARATOR = '.';

/** What a stored kind says: the kind, and the id of its school, if it is of one. */
export function partOf(stored: string): { readonly kind: string; readonly school: string | undefined } {
  const at = stored.indexOf(SEPARATOR);
  return { kind: stored.slice(at + 1), school: at === -1 ? undefined : stored.slice(0, at) };
}

/** The entries of one school. The quotas of strangers are its own, too. Closing it leaves the store open. */
export function namespacedStore(inner: RawStore, id: string): RawStore {
  const prefix = id + SEPARATOR;
  const own = <T extends StoredEntry>({ charge, ...entry }: T): T =>
    ({
      ...entry,
      kind: entry.kind.slice(prefix.length),
      charge: charge && { ...charge, quota: charge.quota.slice(prefix.length) },
    }) as T;
  const stored = (mutation: RawMutation): RawMutation => {
    switch (mutation.op) {
      case 'put':
      case 'create':
      case 'update': {
        const { charge, ...entry } = mutation.entry;
        const quota = charge && { ...charge.quota, name: prefix + charge.quota.name };
        return {
          ...mutation,
          entry: { ...entry, kind: prefix + entry.kind, ...(quota && { charge: { ...charge, quota } }) },
        };
      }
      case 'restore': {
        const { charge } = mutation;
        const kind = prefix + mutation.kind;
        return { ...mutation, kind, charge: charge && { ...charge, quota: prefix + charge.quota } };
      }
      default:
        return { ...mutation, kind: prefix + mutation.kind };
    }
  };

  return {
    async get(kind, ...given) {
      const entry = await inner.get(prefix + kind, ...given);
      return entry && own(entry);
    },
    async findBy(kind, ...given) {
      return (await inner.findBy(prefix + kind, ...given)).map(own);
    },
    count: (kind, ...given) => inner.count(prefix + kind, ...given),
    async scan(kinds, from, limit) {
      const found = await inner.scan(
        kinds?.map((kind) => prefix + kind),
        from,
        limit,
      );
      return { ...found, entries: found.entries.filter(({ kind }) => kind.startsWith(prefix)).map(own) };
    },
    commit: (mutations, priority) => inner.commit(mutations.map(stored), priority),
    sweep: (limit) => inner.sweep(limit),
    compact: (limit) => inner.compact(limit),
    async close() {},
  };
}

/** The counters of one school. */
export function namespacedCounters(inner: Counters, id: string): Counters {
  const prefix = `${id} `;
  return {
    add: (key, rate) => inner.add(prefix + key, rate),
    peek: (key, rate) => inner.peek(prefix + key, rate),
    held: inner.held,
    close() {},
  };
}
