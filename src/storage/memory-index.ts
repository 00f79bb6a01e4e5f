import { MemoryCharges } from './memory-charges.ts';
import { type NewEntry, REFERENCE_NAMES, type Entry as Read, type ReferenceName } from './store.ts';

type Entry = Read & Pick<NewEntry, 'charge'>;

/**
 * The entries of an in-memory store, indexed by key, by reference and by second of expiry, so that lookups do not scan.
 */
export class MemoryIndex {
  readonly #entries = new Map<string, Entry>();
  readonly #references = new Map<string, Set<string>>();
  readonly #expiries = new Map<number, Set<string>>();
  readonly charges = new MemoryCharges();

  get(kind: string, id: string): Entry | undefined {
    return this.#entries.get(keyOf(kind, id));
  }

  by(kind: string, name: ReferenceName, value: string): readonly Entry[] {
    return this.#of(this.#references.get(referenceOf(kind, name, value)));
  }

  /**
   * At most `limit` entries after the key `from`, in key order, and the last key of the page; of one kind, or of all
   * kinds.
   */
  after(
    kind: string | undefined,
    from: string,
    limit: number,
  ): { entries: readonly Entry[]; last: string | undefined } {
    const keys = [...this.#entries.keys()].filter(
      (key) => key > from && (kind === undefined || key.startsWith(`${kind}\0`)),
    );
    const page = keys.toSorted().slice(0, limit);
    return { entries: this.#of(new Set(page)), last: page.length < limit ? undefined : page.at(-1) };
  }

  /** At most `limit` entries that have expired at `now`. */
  expired(now: number, limit: number): readonly Entry[] {
    const found: Entry[] = [];
    for (const [second, keys] of this.#expiries) {
      if (found.length >= limit) break;
      if (second <= now) found.push(...this.#of(keys));
    }
    return found.slice(0, limit);
  }

  /**
   * Sets or deletes (undefined) the entry of a kind and id, and returns the previous one. Index positions that do not
   * change keep their order.
   */
  set(kind: string, id: string, entry: Entry | undefined): Entry | undefined {
    const key = keyOf(kind, id);
    const before = this.#entries.get(key);
    if (before !== undefined) this.#unlink(key, before, entry);
    this.charges.replace(key, before, entry);
    if (entry === undefined) {
      this.#entries.delete(key);
      return before;
    }
    this.#entries.set(key, entry);
    for (const reference of referencesOf(entry)) add(this.#references, reference, key);
    if (entry.expiresAt !== undefined) add(this.#expiries, entry.expiresAt, key);
    return before;
  }

  /** Deletes an entry by its key, as used by `charges`. */
  evict(key: string): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.set(entry.kind, entry.id, undefined);
  }

  clear(): void {
    for (const map of [this.#entries, this.#references, this.#expiries, this.charges]) map.clear();
  }

  #of(keys: ReadonlySet<string> = new Set()): readonly Entry[] {
    return [...keys].flatMap((key) => this.#entries.get(key) ?? []);
  }

  #unlink(key: string, entry: Entry, next: Entry | undefined): void {
    const kept = new Set(next === undefined ? [] : referencesOf(next));
    for (const reference of referencesOf(entry)) if (!kept.has(reference)) remove(this.#references, reference, key);
    if (entry.expiresAt !== undefined && entry.expiresAt !== next?.expiresAt)
      remove(this.#expiries, entry.expiresAt, key);
  }
}

function keyOf(kind: string, id: string): string {
  return `${kind}\0${id}`;
}

function referenceOf(kind: string, name: ReferenceName, value: string): string {
  return `${kind}\0${name}\0${value}`;
}

function referencesOf({ kind, references }: Entry): readonly string[] {
  return REFERENCE_NAMES.flatMap((name) => {
    const value = references[name];
    return value === undefined ? [] : [referenceOf(kind, name, value)];
  });
}

function add<K>(map: Map<K, Set<string>>, at: K, key: string): void {
  const keys = map.get(at);
  if (keys === undefined) map.set(at, new Set([key]));
  else keys.add(key);
}

function remove<K>(map: Map<K, Set<string>>, at: K, key: string): void {
  const keys = map.get(at);
  keys?.delete(key);
  if (keys?.size === 0) map.delete(at);
}
