import { createHmac, hkdfSync } from 'node:crypto';
import { open, seal } from './cipher.ts';
import type { Entry, Mutation, NewEntry, RawStore, References, Store } from './store.ts';

/** Derives one purpose's 32-byte key from the operator's secret (RFC 5869). Keys of two purposes tell nothing of each other. */
export function deriveKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, 'coursegate', purpose, 32));
}

/**
 * Seals a store at rest: ids and references are keyed hashes, payloads are AES-256-GCM bound to kind and id. Who has the
 * file without the secret can read nothing of it and present nothing from it. Entries come back with the hashed id.
 */
export function sealedStore(
  inner: RawStore,
  secret: string,
  onDamaged: (kind: string, reason: unknown) => void = () => {},
): Store {
  const hashKey = deriveKey(secret, 'store-index');
  const sealKey = deriveKey(secret, 'store-payload');

  const hash = (label: string, value: string) =>
    createHmac('sha256', hashKey).update(label).update('\0').update(value).digest('base64url');
  const hashReferences = (references: References): References =>
    Object.fromEntries(Object.entries(references).map(([name, value]) => [name, hash(name, value)]));

  const sealEntry = (entry: NewEntry): NewEntry => {
    const id = hash(entry.kind, entry.id);
    return {
      kind: entry.kind,
      id,
      payload: seal(sealKey, entry.payload, `${entry.kind}\0${id}`),
      expiresAt: entry.expiresAt,
      references: hashReferences(entry.references),
    };
  };
  /** What does not open is as good as absent: nobody can use it, and asking again would not help. */
  const unseal = (entry: Entry): Entry | undefined => {
    try {
      return { ...entry, payload: open(sealKey, entry.payload, `${entry.kind}\0${entry.id}`) };
    } catch (thrown) {
      onDamaged(entry.kind, thrown);
      return undefined;
    }
  };
  const sealMutation = (mutation: Mutation): Mutation => {
    switch (mutation.op) {
      case 'put':
      case 'create':
        return { op: mutation.op, entry: sealEntry(mutation.entry) };
      case 'consume':
      case 'delete':
        return { ...mutation, id: hash(mutation.kind, mutation.id) };
      case 'deleteBy':
        return { ...mutation, value: hash(mutation.name, mutation.value) };
    }
  };

  return {
    async get(kind, id) {
      const entry = await inner.get(kind, hash(kind, id));
      return entry === undefined ? undefined : unseal(entry);
    },
    async findBy(kind, name, value, limit) {
      return (await inner.findBy(kind, name, hash(name, value), limit)).flatMap((entry) => unseal(entry) ?? []);
    },
    async scan(kind, from, limit) {
      const found = await inner.scan(kind, from, limit);
      return { ...found, entries: found.entries.flatMap((entry) => unseal(entry) ?? []) };
    },
    count: (kind, name, value) => inner.count(kind, name, hash(name, value)),
    commit: (mutations) => inner.commit(mutations.map(sealMutation)),
    sweep: (limit) => inner.sweep(limit),
    close: () => inner.close(),
  };
}
