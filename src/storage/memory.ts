import { MemoryIndex } from './memory-index.ts';
import type { Clock, Entry, Mutation, RawStore, Replacement } from './store.ts';
import { unixSeconds } from './store.ts';

/** A store that lives as long as the process. For tests. */
export function memoryStore(clock: Clock): RawStore {
  const entries = new MemoryIndex();
  const alive = (entry: Entry | undefined): Entry | undefined =>
    entry !== undefined && (entry.expiresAt === undefined || entry.expiresAt > unixSeconds(clock)) ? entry : undefined;

  const guard = (mutation: Mutation | Replacement): boolean => {
    if (mutation.op === 'create') return alive(entries.get(mutation.entry.kind, mutation.entry.id)) === undefined;
    if (mutation.op !== 'consume') return true;
    const entry = alive(entries.get(mutation.kind, mutation.id));
    return entry !== undefined && entry.consumedAt === undefined;
  };

  /** Sets or deletes (undefined) the entry of a kind and id. */
  type Write = (kind: string, id: string, entry: Entry | undefined) => void;
  const apply = (mutation: Mutation | Replacement, write: Write): void => {
    switch (mutation.op) {
      case 'put': {
        const { kind, id } = mutation.entry;
        write(kind, id, { ...mutation.entry, consumedAt: entries.get(kind, id)?.consumedAt });
        return;
      }
      case 'replace': {
        const { kind, id, was, payload } = mutation;
        const entry = entries.get(kind, id);
        if (entry?.payload === was) write(kind, id, { ...entry, payload });
        return;
      }
      case 'create':
        write(mutation.entry.kind, mutation.entry.id, { ...mutation.entry, consumedAt: undefined });
        return;
      case 'consume': {
        const entry = entries.get(mutation.kind, mutation.id);
        if (entry !== undefined) write(entry.kind, entry.id, { ...entry, consumedAt: unixSeconds(clock) });
        return;
      }
      case 'delete':
        write(mutation.kind, mutation.id, undefined);
        return;
      case 'deleteBy':
        for (const { kind, id } of entries.by(mutation.kind, mutation.name, mutation.value)) write(kind, id, undefined);
    }
  };

  return {
    async get(kind, id) {
      return alive(entries.get(kind, id));
    },
    async findBy(kind, name, value, limit) {
      return entries
        .by(kind, name, value)
        .filter((entry) => alive(entry) !== undefined)
        .slice(0, limit);
    },
    async count(kind, name, value) {
      return entries.by(kind, name, value).length;
    },
    async scan(kind, from, limit) {
      const { entries: found, last } = entries.after(kind, from ?? '', limit);
      const total = from === undefined ? entries.after(kind, '', Number.POSITIVE_INFINITY).entries.length : undefined;
      return { entries: found.flatMap((entry) => alive(entry) ?? []), next: last, looked: found.length, total };
    },
    async commit(mutations) {
      const charges = mutations.flatMap((mutation) => ('entry' in mutation ? (mutation.entry.charge ?? []) : []));
      const undo: (() => void)[] = [];
      const write: Write = (kind, id, entry) => {
        const before = entries.set(kind, id, entry);
        undo.push(() => void entries.set(kind, id, before));
      };
      const undoAll = () => {
        for (const step of undo.toReversed()) step();
      };
      for (const mutation of mutations) {
        if (!guard(mutation)) {
          undoAll();
          return false;
        }
        apply(mutation, write);
      }
      try {
        for (const charge of charges) entries.charges.makeRoom(charge, (key) => entries.evict(key));
      } catch (thrown) {
        undoAll();
        throw thrown;
      }
      return true;
    },
    async sweep(limit) {
      const dead = entries.expired(unixSeconds(clock), limit);
      for (const { kind, id } of dead) entries.set(kind, id, undefined);
      return dead.length;
    },
    async compact() {
      return 0;
    },
    async close() {
      entries.clear();
    },
  };
}
