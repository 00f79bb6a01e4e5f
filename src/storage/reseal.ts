import type { KeyObject } from 'node:crypto';
import { contextOf, isCompressed, open, openWithAny, seal } from './cipher.ts';
import { partOf } from './namespace.ts';
import type { Entry, RawStore, Replacement } from './store.ts';

export type Reseal = ReturnType<typeof resealer>;

/**
 * Takes the keys that open payloads; the first one seals. Entries of schools are passed over, unless `ofSchool` has the
 * keys of theirs.
 */
export function resealer(
  inner: RawStore,
  own: readonly KeyObject[],
  ofSchool: (id: string) => readonly KeyObject[] | undefined = () => undefined,
) {
  const replacementOf = (entry: Entry): Replacement | 'sealed' | 'unreadable' | 'passed over' => {
    const { kind, school } = partOf(entry.kind);
    const keys = school === undefined ? own : ofSchool(school);
    if (keys === undefined) return 'passed over';
    const [first, ...further] = keys;
    const sealKey = first as KeyObject;
    const within = { ...entry, kind };
    try {
      open(sealKey, entry.payload, contextOf(within));
      return 'sealed';
    } catch {}
    try {
      const payload = seal(sealKey, openWithAny(further, within), contextOf(within), isCompressed(entry.payload));
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
    const found = entries.map(replacementOf);
    const changes = found.filter((one) => typeof one === 'object');
    if (changes.length > 0) await inner.commit(changes);
    const unreadable = found.filter((one) => one === 'unreadable').length;
    return { resealed: changes.length, unreadable, next, looked, total };
  };
}
