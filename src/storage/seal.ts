import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { once } from '../http/once.ts';
import { contextOf, hashId, openWithAny, seal } from './cipher.ts';
import { INDEX_KEY, indexKey } from './index-key.ts';
import type { Charge } from './quota.ts';
import { resealer } from './reseal.ts';
import {
  type Entry,
  type Mutation,
  type NewEntry,
  type RawStore,
  REFERENCE_NAMES,
  type ReferenceName,
  type References,
  type Store,
} from './store.ts';

/**
 * The hashes of references that are kept in memory: those of a token request are the same in all its entries. Hashes of
 * ids are not kept, because an id may be a token.
 */
const KEPT_HASHES = { most: 2000, longest: 256 };

/**
 * Derives a 32-byte key for one purpose from the operator's secret (RFC 5869). Keys for different purposes are
 * independent.
 */
export function deriveKey(secret: string, purpose: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', secret, 'coursegate', purpose, 32)));
}

/** The first one seals and signs; all of them open and verify. */
export type Secrets = readonly [string, ...string[]];

/** The key for one purpose from each secret, in order. */
export function deriveKeys([first, ...further]: Secrets, purpose: string): readonly [KeyObject, ...KeyObject[]] {
  return [deriveKey(first, purpose), ...further.map((secret) => deriveKey(secret, purpose))];
}

/**
 * The secrets of a school, derived from those of the process (RFC 5869): what one school has sealed or signed, no other
 * school opens or accepts, whatever it is given to read.
 * @param id the school's id, which is random and never used again
 */
export function schoolSecrets([first, ...further]: Secrets, id: string): Secrets {
  const derive = (secret: string) => deriveKey(secret, `school ${id}`).export().toString('base64url');
  return [derive(first), ...further.map(derive)];
}

/** Wraps a store with sealing and resealing. */
export function sealed(inner: RawStore, secrets: Secrets, onDamaged?: (kind: string, reason: unknown) => void) {
  return {
    store: sealedStore(inner, secrets, onDamaged),
    /** The store below the seal. */
    raw: inner,
    /** The secret that the store is sealed with and that every other key is derived from. */
    secret: secrets[0],
    /** The same secret first, then the further ones that may open and verify. */
    secrets,
    reseal: resealer(inner, secrets.map(payloadKey)),
    /** The same with the entries of these schools. Takes the secrets of each that also open it. */
    resealWith(schools: ReadonlyMap<string, readonly string[]>) {
      const keys = new Map<string, readonly KeyObject[]>();
      return resealer(inner, secrets.map(payloadKey), (id) => {
        const further = schools.get(id);
        const known = keys.get(id) ?? (further && [...schoolSecrets(secrets, id), ...further].map(payloadKey));
        if (known !== undefined) keys.set(id, known);
        return known;
      });
    },
  };
}

/**
 * Seals a store at rest: ids and references are keyed hashes, payloads are AES-256-GCM bound to kind and id. Without
 * the secret, a stolen file reveals none of these and contains no token that could be presented. Entries are returned
 * with the hashed id.
 * Every method throws GatewayError `store_unavailable` if no secret opens the store's own key. Nothing is read or
 * written then.
 * @param secrets the first one seals, all of them open
 */
export function sealedStore(
  inner: RawStore,
  secrets: string | Secrets,
  onDamaged: (kind: string, reason: unknown) => void = () => {},
): Store {
  const [first, ...further] = typeof secrets === 'string' ? [secrets] : secrets;
  const sealKey = payloadKey(first);
  const openKeys = [sealKey, ...further.map(payloadKey)];

  let known: Hashing | undefined;
  const look = async (): Promise<Hashing> => {
    known = hashingWith(await indexKey(inner, openKeys), sealKey);
    return known;
  };
  const hashing = once(look, { forgetFailure: true });
  /** An entry that cannot be decrypted is treated as absent: it is unusable, and retrying would not help. */
  const unseal = (entry: Entry): Entry | undefined => {
    try {
      return { ...entry, payload: openWithAny(openKeys, entry) };
    } catch (thrown) {
      onDamaged(entry.kind, thrown);
      return undefined;
    }
  };

  return {
    async get(kind, id) {
      const { hash } = known ?? (await hashing());
      const entry = await inner.get(kind, hash(kind, id));
      return entry === undefined ? undefined : unseal(entry);
    },
    async findBy(kind, name, value, limit) {
      const { hash } = known ?? (await hashing());
      return (await inner.findBy(kind, name, hash(name, value), limit)).flatMap((entry) => unseal(entry) ?? []);
    },
    async scan(kinds, from, limit) {
      if (known === undefined) await hashing();
      const found = await inner.scan(kinds, from, limit);
      const entries = found.entries.filter((entry) => entry.kind !== INDEX_KEY.kind);
      return { ...found, entries: entries.flatMap(({ charge: _, ...entry }) => unseal(entry) ?? []) };
    },
    async count(kind, name, value) {
      const { hash } = known ?? (await hashing());
      return inner.count(kind, name, hash(name, value));
    },
    async commit(mutations, priority) {
      const { sealMutation } = known ?? (await hashing());
      return inner.commit(mutations.map(sealMutation), priority);
    },
    sweep: (limit) => inner.sweep(limit),
    compact: (limit) => inner.compact(limit),
    close: () => inner.close(),
  };
}

type Hashing = ReturnType<typeof hashingWith>;

function hashingWith(hashKey: KeyObject, sealKey: KeyObject) {
  const hashes = new LRUCache<string, string>({ max: KEPT_HASHES.most });
  const hash = (label: string, value: string) => hashId(hashKey, label, value);
  const hashReference = (name: ReferenceName, value: string): string => {
    const key = `${name}\0${value}`;
    const known = hashes.get(key);
    if (known !== undefined) return known;
    const made = hash(name, value);
    if (key.length <= KEPT_HASHES.longest) hashes.set(key, made);
    return made;
  };
  const hashReferences = (references: References): References => {
    const hashed: Partial<Record<ReferenceName, string>> = {};
    for (const name of REFERENCE_NAMES) {
      const value = references[name];
      if (value !== undefined) hashed[name] = hashReference(name, value);
    }
    return hashed;
  };
  const hashCharge = ({ quota, network, wider, client }: Charge): Charge => ({
    quota,
    network: hash('network', network),
    wider: hash('wider network', wider),
    client: client === '' ? '' : hash('client', client),
  });
  const sealEntry = (entry: NewEntry): NewEntry => {
    const id = hash(entry.kind, entry.id);
    return {
      kind: entry.kind,
      id,
      payload: seal(sealKey, entry.payload, contextOf({ kind: entry.kind, id }), isWorthCompressing(entry)),
      expiresAt: entry.expiresAt,
      references: hashReferences(entry.references),
      ...(entry.charge === undefined ? {} : { charge: hashCharge(entry.charge) }),
    };
  };
  const sealMutation = (mutation: Mutation): Mutation => {
    switch (mutation.op) {
      case 'put':
      case 'create':
      case 'update':
        return { ...mutation, entry: sealEntry(mutation.entry) };
      case 'consume':
      case 'delete':
        return { ...mutation, id: hash(mutation.kind, mutation.id) };
      case 'deleteBy':
        return { ...mutation, value: hashReference(mutation.name, mutation.value) };
    }
  };
  return { hash, sealMutation };
}

/** Each refresh writes them: what compression saves in space would cost it a tenth to a third more CPU time. */
const WRITTEN_OFTEN = new Set(['AccessToken', 'RefreshToken']);

/** Not what strangers cause, because their quotas are in bytes as they sent them. */
function isWorthCompressing({ kind, charge }: NewEntry): boolean {
  return charge === undefined && !WRITTEN_OFTEN.has(kind);
}

function payloadKey(secret: string): KeyObject {
  return deriveKey(secret, 'store-payload');
}
