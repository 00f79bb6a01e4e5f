import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import { GatewayError } from '../errors.ts';
import { type Clock, type Store, unixSeconds } from '../storage/store.ts';

const KIND = 'SigningKeys';
const CURRENT = 'current';

/** One generation of keys. All are published; `current` signs. */
interface Generation {
  readonly version: number;
  /** Unix seconds at which `current` began to sign. */
  readonly since: number;
  readonly current: PrivateJwk;
  /** Published before it signs, so that whoever caches the key set has it in time. */
  readonly next: PrivateJwk;
  /** Published after it signed, so that what it signed still verifies. */
  readonly previous: PrivateJwk | undefined;
}

type PrivateJwk = JWK & { readonly kid: string };

export interface Keyring {
  /** Goes up with every rotation. */
  readonly version: () => number;
  /** Private JWKs of one generation, the signing one first: the order in which oidc-provider picks. */
  readonly privateKeys: () => readonly JWK[];
  /** The key that signs now: for the identity assertion. */
  readonly signing: () => { readonly kid: string; readonly key: CryptoKey };
  /** Unix seconds at which it began to. */
  readonly since: () => number;
  /** Moves on by one generation: next signs, current is kept for verifying, a new next is published. */
  rotate(): Promise<void>;
  /**
   * Takes over what another replica or command rotated to, and rotates itself when the signing key is older than its
   * lifetime. Out: whether the keys changed.
   */
  refresh(): Promise<boolean>;
}

/**
 * The ES256 signing keys, kept in the store and shared by all replicas: a generation is written once (`create`), so of
 * two that rotate together one wins and the other takes it over. In: how long a key signs, in seconds, asked for anew each
 * time, and whom to tell
 * when this process has moved on to the next.
 * Throws GatewayError `store_unavailable`.
 */
export async function openKeyring(
  store: Store,
  clock: Clock,
  lifetime: () => number,
  rotated: (keyId: string, reason: 'due' | 'asked_for') => void = () => {},
): Promise<Keyring> {
  let generation = (await load(store)) ?? (await write(store, await firstGeneration(unixSeconds(clock))));
  let key = await importKey(generation.current);

  const adopt = async (newer: Generation): Promise<boolean> => {
    if (newer.version === generation.version) return false;
    key = await importKey(newer.current);
    generation = newer;
    return true;
  };
  const rotate = async (reason: 'due' | 'asked_for'): Promise<boolean> => {
    const { version, current, next } = generation;
    const now = unixSeconds(clock);
    const following = { version: version + 1, since: now, current: next, previous: current, next: await createKey() };
    const standing = await write(store, following);
    const changed = await adopt(standing);
    if (standing === following) rotated(following.current.kid, reason);
    return changed;
  };

  return {
    version: () => generation.version,
    privateKeys: () => [generation.current, generation.next, ...(generation.previous ? [generation.previous] : [])],
    signing: () => ({ kid: generation.current.kid, key }),
    since: () => generation.since,
    async rotate() {
      await rotate('asked_for');
    },
    async refresh() {
      const adopted = await adopt((await load(store)) ?? generation);
      return unixSeconds(clock) - generation.since >= lifetime() ? rotate('due') : adopted;
    },
  };
}

async function load(store: Store): Promise<Generation | undefined> {
  const entry = await store.get(KIND, CURRENT);
  return entry === undefined ? undefined : (JSON.parse(entry.payload) as Generation);
}

/** Out: the generation that stands: this one, or the one somebody else wrote under the same number. */
async function write(store: Store, generation: Generation): Promise<Generation> {
  const entry = { kind: KIND, payload: JSON.stringify(generation), expiresAt: undefined, references: {} };
  const won = await store.commit([
    { op: 'create', entry: { ...entry, id: `generation-${generation.version}` } },
    { op: 'put', entry: { ...entry, id: CURRENT } },
  ]);
  if (won) return generation;
  const standing = await load(store);
  // It is there, since we lost to it, and cannot be read: with keys of our own no other replica would know what we sign.
  if (standing === undefined) throw new GatewayError('store_unavailable');
  return standing;
}

async function firstGeneration(now: number): Promise<Generation> {
  return { version: 1, since: now, current: await createKey(), next: await createKey(), previous: undefined };
}

async function createKey(): Promise<PrivateJwk> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = await exportJWK(privateKey);
  return { ...jwk, alg: 'ES256', use: 'sig', kid: await calculateJwkThumbprint(jwk) };
}

async function importKey(jwk: PrivateJwk): Promise<CryptoKey> {
  return (await importJWK(jwk, 'ES256')) as CryptoKey;
}
