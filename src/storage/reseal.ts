import type { KeyObject } from 'node:crypto';
import { contextOf, isCompressed, open, openWithAny, seal } from './cipher.ts';
import { isOfSchool } from './namespace.ts';
import type { Entry, RawStore, Replacement } from './store.ts';

export type Reseal = ReturnType<typeof resealer>;

/** Takes the keys that open payloads; the first one seals. */
export function resealer(inner: RawStore, [first, ...further]: readonly KeyObject[]) {
  const sealKey = first as KeyObject;

  const replacementOf = (entry: Entry): Replacement | 'sealed' | 'unreadable' => {
    const context = contextOf(entry);
    try {
      open(sealKey, entry.payload, context);
      return 'sealed';
    } catch {}
    try {
      const payload = seal(sealKey, openWithAny(further, entry), context, isCompressed(entry.payload));
      return { op: 'replace', kind: entry.kind, id: entry.id, was: entry.payload, payload };
    } catch {
      return 'unreadable';
    }
  };

  /**
   * One step of sealing the whole store with the first secret. It can be stopped after any step and restarted, while the
   * gate keeps running: an entry that changes in the meantime is left as it was written. Returns how many entries are now
   * sealed with the first secret and were not, how many none of the secrets opens, and where the next step continues
   * (undefined: the whole store was processed). Throws GatewayError `store_unavailable`.
   */
  return async (from: string | undefined, limit: number) => {
    const { entries, next, looked, total } = await inner.scan(undefined, from, limit);
    // Those of a school are sealed with its own keys.
    const found = entries.filter(({ kind }) => !isOfSchool(kind)).map(replacementOf);
    const changes = found.filter((one) => typeof one === 'object');
    if (changes.length > 0) await inner.commit(changes);
    const unreadable = found.filter((one) => one === 'unreadable').length;
    return { resealed: changes.length, unreadable, next, looked, total };
  };
}
