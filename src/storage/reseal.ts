import { contextOf, open, openWithAny, seal } from './cipher.ts';
import type { Entry, RawStore, Replacement } from './store.ts';

interface Resealed {
  /** Entries that another secret had sealed, and the first one has sealed now. */
  readonly resealed: number;
  /** Entries that none of the secrets opens. */
  readonly unreadable: number;
  /** Where the next step goes on; undefined: the whole store was walked. */
  readonly next: string | undefined;
  readonly looked: number;
  readonly total: number | undefined;
}

/**
 * One step of sealing the store with the first secret alone. It can be stopped after any step and begun again, and the
 * gate goes on meanwhile: an entry that is written in between is left to who wrote it. Throws GatewayError
 * `store_unavailable`.
 */
export type Reseal = (from: string | undefined, limit: number) => Promise<Resealed>;

/** In: the keys that open payloads, the sealing one first. */
export function resealer(inner: RawStore, [first, ...further]: readonly Buffer[]): Reseal {
  const sealKey = first as Buffer;

  const replacementOf = (entry: Entry): Replacement | 'sealed' | 'unreadable' => {
    const context = contextOf(entry);
    try {
      open(sealKey, entry.payload, context);
      return 'sealed';
    } catch {}
    try {
      const payload = seal(sealKey, openWithAny(further, entry), context);
      return { op: 'replace', kind: entry.kind, id: entry.id, was: entry.payload, payload };
    } catch {
      return 'unreadable';
    }
  };

  return async (from, limit) => {
    const { entries, next, looked, total } = await inner.scan(undefined, from, limit);
    const found = entries.map(replacementOf);
    const changes = found.filter((one) => typeof one === 'object');
    if (changes.length > 0) await inner.commit(changes);
    const unreadable = found.filter((one) => one === 'unreadable').length;
    return { resealed: changes.length, unreadable, next, looked, total };
  };
}
