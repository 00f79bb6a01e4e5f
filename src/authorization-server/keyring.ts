import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import { GatewayError } from '../errors.ts';
import { type Clock, jsonEntry, readJson, type Store, unixSeconds } from '../storage/store.ts';

const KIND = 'SigningKeys';
const CURRENT = 'current';

/**
 * Seconds that a key stays published after it has stopped signing. Longer than any ID token or assertion is valid
 * (`exp` of RFC 7519), and than anyone has a reason to verify one again.
 */
const VERIFIES = 86_400;

/** Seconds that others may cache the key set. A key published for less than that may still be unknown to verifiers. */
const REMEMBERED = 3600;

/** Attempts to write a change while others write theirs. */
const TRIES = 5;

/** One generation of keys. All are published; `current` signs. */
interface Generation {
  readonly version: number;
  /** Unix seconds at which `current` began to sign. */
  readonly since: number;
  readonly current: PrivateJwk;
  /** Published before it signs, so that cached key sets contain it in time. */
  readonly next: PrivateJwk;
  /** Unix seconds at which `next` was first published. */
  readonly nextSince: number;
  /** Still published, so that what they signed can be verified; the most recent first. */
  readonly retired: readonly Retired[];
}

interface Retired {
  readonly key: PrivateJwk;
  /** Unix seconds. */
  readonly since: number;
  readonly until: number;
}

export type PrivateJwk = JWK & { readonly kid: string };

/** The public description of a key. Times are Unix seconds. */
interface KeyDescription {
  readonly kid: string;
  readonly state: 'signing' | 'next' | 'verifying';
  /** When it entered this state. */
  readonly since: number;
  /** When it leaves this state, if known. */
  readonly until: number | undefined;
  readonly publicKey: JWK;
}

export interface Keyring {
  /** Changes whenever the published keys change. */
  readonly version: () => string;
  /** Private JWKs of one generation, the signing key first, because oidc-provider picks the first. */
  readonly privateKeys: () => readonly JWK[];
  /** The current signing key, for the identity assertion. */
  readonly signing: () => { readonly kid: string; readonly key: CryptoKey };
  /** Unix seconds at which the current key began to sign. */
  readonly since: () => number;
  readonly list: () => readonly KeyDescription[];
  /**
   * Moves on by one generation: `next` signs, `current` is kept for verification, and a new `next` is published. If
   * `now` is false (the default is true), does nothing while `next` has not been published long enough.
   * @returns the missing seconds; 0 if the keys were rotated
   */
  rotate(now?: boolean): Promise<number>;
  /** Replaces the `next` key. Returns false if the key is already in the keyring. */
  replaceNext(key: PrivateJwk): Promise<boolean>;
  /** Removes a key at once: it no longer signs and is no longer published. Returns false if there is no such key. */
  remove(kid: string): Promise<boolean>;
  /**
   * Takes over changes made by another replica or command, and rotates if the signing key is older than its lifetime.
   * Returns whether the keys changed.
   */
  refresh(): Promise<boolean>;
}

/**
 * Opens the ES256 signing keys, which are kept in the store and shared by all replicas. A generation is written once
 * (`create`): if two replicas rotate at the same time, one wins and the other takes over its keys. Throws GatewayError
 * `store_unavailable`.
 * @param lifetime - seconds for which a key signs; read each time
 * @param due - called with the id of the new signing key when this process has rotated because it was due
 */
export async function openKeyring(
  store: Store,
  clock: Clock,
  lifetime: () => number,
  due: (keyId: string) => void = () => {},
): Promise<Keyring> {
  let generation = (await load(store)) ?? (await write(store, await firstGeneration(unixSeconds(clock)))).standing;
  let key = await importKey(generation.current);

  const adopt = async (newer: Generation): Promise<boolean> => {
    if (newer.version === generation.version) return false;
    key = await importKey(newer.current);
    generation = newer;
    return true;
  };
  const standing = ({ retired }: Generation) => retired.filter(({ until }) => until > unixSeconds(clock));
  const moved = async (from: Generation): Promise<Generation> => {
    const now = unixSeconds(clock);
    const { version, current, next, since } = from;
    const retired = [{ key: current, since: now, until: now + VERIFIES }, ...standing(from)];
    return {
      version: version + 1,
      since: Math.max(now, since),
      current: next,
      next: await createKey(),
      nextSince: now,
      retired,
    };
  };
  /** Returns whether this generation, and not one of another process, is in force now. */
  const replace = async (wanted: Generation): Promise<boolean> => {
    const { won, standing: stands } = await write(store, wanted);
    await adopt(stands);
    return won;
  };
  /**
   * @param make - returns the next generation, or undefined if nothing is to be changed
   * @returns whether the keys were changed
   */
  const change = async (make: (from: Generation) => Promise<Generation | undefined>): Promise<boolean> => {
    for (let left = TRIES; left > 0; left -= 1) {
      await adopt((await load(store)) ?? generation);
      const wanted = await make(generation);
      if (wanted === undefined) return false;
      if (await replace(wanted)) return true;
    }
    throw new GatewayError('store_unavailable');
  };

  return {
    version: () => [generation.version, ...standing(generation).map((retired) => retired.key.kid)].join(' '),
    privateKeys: () => [generation.current, generation.next, ...standing(generation).map((retired) => retired.key)],
    signing: () => ({ kid: generation.current.kid, key }),
    since: () => generation.since,
    list() {
      const { current, since, next, nextSince } = generation;
      return [
        describe(current, 'signing', since, since + lifetime()),
        describe(next, 'next', nextSince, since + lifetime()),
        ...standing(generation).map((retired) => describe(retired.key, 'verifying', retired.since, retired.until)),
      ];
    },
    async rotate(now = true) {
      const missing = generation.nextSince + REMEMBERED - unixSeconds(clock);
      if (!now && missing > 0) return missing;
      await replace(await moved(generation));
      return 0;
    },
    replaceNext: (imported) =>
      change(async (from) => {
        const known = [from.current, from.next, ...from.retired.map((retired) => retired.key)];
        if (known.some(({ kid }) => kid === imported.kid)) return undefined;
        return { ...from, version: from.version + 1, next: imported, nextSince: unixSeconds(clock) };
      }),
    remove: (kid) =>
      change(async (from) => {
        if (kid === from.current.kid) {
          const { retired, ...next } = await moved(from);
          return { ...next, retired: retired.filter((one) => one.key.kid !== kid) };
        }
        const now = unixSeconds(clock);
        const following = { ...from, version: from.version + 1 };
        if (kid === from.next.kid) return { ...following, next: await createKey(), nextSince: now };
        if (!standing(from).some((one) => one.key.kid === kid)) return undefined;
        return { ...following, retired: standing(from).filter((one) => one.key.kid !== kid) };
      }),
    async refresh() {
      const adopted = await adopt((await load(store)) ?? generation);
      if (unixSeconds(clock) - generation.since < lifetime()) return adopted;
      if (await replace(await moved(generation))) due(generation.current.kid);
      return true;
    },
  };
}

function load(store: Store): Promise<Generation | undefined> {
  return readJson(store, KIND, CURRENT);
}

/**
 * Writes a generation. Returns the one now in force: this one, or the one another process wrote under the same number.
 */
async function write(
  store: Store,
  generation: Generation,
): Promise<{ readonly won: boolean; readonly standing: Generation }> {
  const entry = jsonEntry(KIND, CURRENT, generation, undefined);
  const won = await store.commit(
    [
      { op: 'create', entry: { ...entry, id: `generation-${generation.version}` } },
      { op: 'put', entry },
    ],
    'vital',
  );
  if (won) return { won, standing: generation };
  const standing = await load(store);
  // It exists, since we lost to it, but cannot be read. With keys of our own, no other replica could verify what we
  // sign.
  if (standing === undefined) throw new GatewayError('store_unavailable');
  return { won, standing };
}

async function firstGeneration(now: number): Promise<Generation> {
  return { version: 1, since: now, current: await createKey(), next: await createKey(), nextSince: now, retired: [] };
}

async function createKey(): Promise<PrivateJwk> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return signingJwk(await exportJWK(privateKey));
}

/** Prepares a private P-256 JWK for the keyring, named by its thumbprint (RFC 7638). */
export async function signingJwk({ kty, crv, x, y, d }: JWK): Promise<PrivateJwk> {
  const jwk = { kty, crv, x, y, d } as JWK;
  return { ...jwk, alg: 'ES256', use: 'sig', kid: await calculateJwkThumbprint(jwk) };
}

function describe(key: PrivateJwk, state: KeyDescription['state'], since: number, until: number): KeyDescription {
  const { d: _private, ...publicKey } = key;
  return { kid: key.kid, publicKey, state, since, until };
}

async function importKey(jwk: PrivateJwk): Promise<CryptoKey> {
  return (await importJWK(jwk, 'ES256')) as CryptoKey;
}
