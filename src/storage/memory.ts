import type { Clock, Entry, Mutation, ReferenceName, Store } from './store.ts';
import { unixSeconds } from './store.ts';

/** A store that lives as long as the process: for tests. In: the clock. */
export function memoryStore(clock: Clock): Store {
  const entries = new Map<string, Entry>();
  const key = (kind: string, id: string) => `${kind}\0${id}`;
  const alive = (entry: Entry | undefined): Entry | undefined =>
    entry !== undefined && (entry.expiresAt === undefined || entry.expiresAt > unixSeconds(clock)) ? entry : undefined;
  const select = (kind: string, name: ReferenceName, value: string) =>
    [...entries.values()].filter((entry) => entry.kind === kind && entry.references[name] === value);

  const guard = (mutation: Mutation): boolean => {
    if (mutation.op === 'create') return alive(entries.get(key(mutation.entry.kind, mutation.entry.id))) === undefined;
    if (mutation.op !== 'consume') return true;
    const entry = alive(entries.get(key(mutation.kind, mutation.id)));
    return entry !== undefined && entry.consumedAt === undefined;
  };

  const apply = (mutation: Mutation): void => {
    switch (mutation.op) {
      case 'put': {
        const { kind, id } = mutation.entry;
        entries.set(key(kind, id), { ...mutation.entry, consumedAt: entries.get(key(kind, id))?.consumedAt });
        return;
      }
      case 'create':
        entries.set(key(mutation.entry.kind, mutation.entry.id), { ...mutation.entry, consumedAt: undefined });
        return;
      case 'consume': {
        const entry = entries.get(key(mutation.kind, mutation.id));
        if (entry !== undefined) entries.set(key(entry.kind, entry.id), { ...entry, consumedAt: unixSeconds(clock) });
        return;
      }
      case 'delete':
        entries.delete(key(mutation.kind, mutation.id));
        return;
      case 'deleteBy':
        for (const entry of select(mutation.kind, mutation.name, mutation.value)) {
          entries.delete(key(entry.kind, entry.id));
        }
    }
  };

  return {
    async get(kind, id) {
      return alive(entries.get(key(kind, id)));
    },
    async findBy(kind, name, value, limit) {
      return select(kind, name, value)
        .filter((entry) => alive(entry) !== undefined)
        .slice(0, limit);
    },
    async commit(mutations) {
      const before = new Map(entries);
      for (const mutation of mutations) {
        if (!guard(mutation)) {
          entries.clear();
          for (const [id, entry] of before) entries.set(id, entry);
          return false;
        }
        apply(mutation);
      }
      return true;
    },
    async sweep(limit) {
      const dead = [...entries].filter(([, entry]) => alive(entry) === undefined).slice(0, limit);
      for (const [id] of dead) entries.delete(id);
      return dead.length;
    },
    async close() {
      entries.clear();
    },
  };
}
