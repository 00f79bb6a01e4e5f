import { createSecretKey } from 'node:crypto';
import { GatewayError } from '../errors.ts';
import { type Clock, type Store, unixSeconds } from '../storage/store.ts';
import { byAlgorithm, type KeyGeneration, openGenerations, stored, TRIES, write } from './key-generations.ts';
import { ALGORITHMS, createKey, importKey, type PrivateJwk, publicJwk } from './signing-key.ts';
import { storedKey } from './stored-key.ts';

/**
 * Seconds that a key stays published after it has stopped signing. Longer than any ID token or assertion is valid
 * (`exp` of RFC 7519), and than anyone has a reason to verify one again.
 */
const VERIFIES = 86_400;

/** Seconds that others may cache the key set. A key published for less than that may still be unknown to verifiers. */
const REMEMBERED = 3600;

export type Keyring = Awaited<ReturnType<typeof openKeyring>>;

/**
 * Opens the signing keys, which are kept in the store and shared by all replicas. Creates keys for each algorithm that
 * has none. A generation is written once (`create`): if two replicas rotate at the same time, one wins
 * and the other takes over its keys. Throws GatewayError `store_unavailable`.
 * @param lifetime - seconds for which a key signs; read each time
 * @param due - called with the id of each new signing key when this process has rotated because it was due
 */
export async function openKeyring(
  store: Store,
  clock: Clock,
  lifetime: () => number,
  due: (keyId: string) => void = () => {},
) {
  let generations = await openGenerations(store, unixSeconds(clock));
  let key = await importKey(generations.ES256.current);
  const refreshTokenKey = createSecretKey(await storedKey(store, 'RefreshTokenKey'), 'base64url');

  const adopt = async (found: readonly KeyGeneration[]): Promise<boolean> => {
    // An earlier version is adopted too: the store may have been restored from a backup.
    const other = found.filter(({ version, current }) => version !== generations[current.alg].version);
    if (other.length === 0) return false;
    const adopted = { ...generations, ...byAlgorithm(other) };
    key = await importKey(adopted.ES256.current);
    generations = adopted;
    return true;
  };
  const standing = (one: KeyGeneration) => standingAt(unixSeconds(clock), one);
  const all = () => ALGORITHMS.map((alg) => generations[alg]);
  const moved = (from: KeyGeneration) => movedAt(unixSeconds(clock), from);
  /** Returns whether these generations, and not those of another process, are in force now. */
  const replace = async (wanted: readonly KeyGeneration[]): Promise<boolean> => {
    const won = await write(store, wanted);
    await adopt(won ? wanted : await stored(store));
    return won;
  };
  /**
   * @param make - returns the next generation of an algorithm, or undefined if nothing is to be changed
   * @returns whether the keys were changed
   */
  const change = async (make: (from: KeyGeneration) => Promise<KeyGeneration | undefined>): Promise<boolean> => {
    for (let left = TRIES; left > 0; left -= 1) {
      await adopt(await stored(store));
      const wanted = (await Promise.all(all().map(make))).filter((one) => one !== undefined);
      if (wanted.length === 0) return false;
      if (await replace(wanted)) return true;
    }
    throw new GatewayError('store_unavailable');
  };
  /** Seconds for which verifiers may still not know a next key. */
  const unknownFor = () => Math.max(0, ...all().map(({ nextSince }) => nextSince + REMEMBERED - unixSeconds(clock)));
  const signers = () => all().map(({ current }) => current.kid);

  return {
    /** For the MAC of refresh tokens. It never changes: they live longer than the operator's secret may. */
    refreshTokenKey,
    /** Changes whenever the published keys change. */
    version: () =>
      all()
        .flatMap((one) => [one.version, ...standing(one).map(({ key: { kid } }) => kid)])
        .join(' '),
    /** Private JWKs. For each algorithm, the signing key comes first, because oidc-provider picks the first. */
    privateKeys: () => all().flatMap((one) => [one.current, one.next, ...standing(one).map((retired) => retired.key)]),
    /** The ES256 key that signs now, for the identity assertion. */
    signing: () => ({ kid: generations.ES256.current.kid, key }),
    /** The ids of the keys that sign now, one for each algorithm. */
    signers,
    unknownFor,
    /** Unix seconds at which the oldest current signing key came into use. */
    since: () => Math.min(...all().map(({ since }) => since)),
    list: () =>
      all().flatMap((one) => [
        describe(one.current, 'signing', one.since, one.since + lifetime()),
        describe(one.next, 'next', one.nextSince, one.since + lifetime()),
        ...standing(one).map((retired) => describe(retired.key, 'verifying', retired.since, retired.until)),
      ]),
    /**
     * Moves each algorithm on by one generation: `next` signs, `current` is kept for verification, and a new `next` is
     * published. If `now` is false (the default is true), does nothing while a `next` has not been published long enough.
     * @returns the missing seconds; 0 if the keys were rotated
     */
    async rotate(now = true): Promise<number> {
      const missing = unknownFor();
      if (!now && missing > 0) return missing;
      const before = signers();
      // Keys that another process has rotated meanwhile stay as they are.
      await change(async (from) => (before.includes(from.current.kid) ? moved(from) : undefined));
      return 0;
    },
    /** Replaces the `next` key of its algorithm. Returns false if the key is already in the keyring. */
    replaceNext: (imported: PrivateJwk) =>
      change(async (from) => {
        const known = [from.current, from.next, ...from.retired.map((retired) => retired.key)];
        if (from.current.alg !== imported.alg || known.some(({ kid }) => kid === imported.kid)) return undefined;
        return { ...from, version: from.version + 1, next: imported, nextSince: unixSeconds(clock) };
      }),
    /** Removes a key at once: it no longer signs and is no longer published. Returns false if there is no such key. */
    remove: (kid: string) =>
      change(async (from) => {
        if (kid === from.current.kid) {
          const { retired, ...next } = await moved(from);
          return { ...next, retired: retired.filter((one) => one.key.kid !== kid) };
        }
        const following = { ...from, version: from.version + 1 };
        const now = unixSeconds(clock);
        if (kid === from.next.kid) return { ...following, next: await createKey(from.next.alg), nextSince: now };
        if (!standing(from).some((one) => one.key.kid === kid)) return undefined;
        return { ...following, retired: standing(from).filter((one) => one.key.kid !== kid) };
      }),
    /**
     * Takes over changes made by another replica or command, and rotates the keys of an algorithm if its signing key is
     * older than its lifetime. Returns whether the keys changed.
     */
    async refresh(): Promise<boolean> {
      const adopted = await adopt(await stored(store));
      const old = all().filter(({ since }) => unixSeconds(clock) - since >= lifetime());
      if (old.length === 0) return adopted;
      const wanted = await Promise.all(old.map(moved));
      if (await replace(wanted)) for (const { current } of wanted) due(current.kid);
      return true;
    },
  };
}

/** The retired keys that are still published. */
function standingAt(now: number, { retired }: KeyGeneration): KeyGeneration['retired'] {
  return retired.filter(({ until }) => until > now);
}

/** The generation after a rotation: the next key signs, and a new one is published. */
async function movedAt(now: number, from: KeyGeneration): Promise<KeyGeneration> {
  const { version, current, next, since } = from;
  return {
    version: version + 1,
    since: Math.max(now, since),
    current: next,
    next: await createKey(current.alg),
    nextSince: now,
    retired: [{ key: current, since: now, until: now + VERIFIES }, ...standingAt(now, from)],
  };
}

/** The public description of a key, which is in this state from `since` until `until`, in Unix seconds. */
function describe(key: PrivateJwk, state: 'signing' | 'next' | 'verifying', since: number, until: number) {
  return { kid: key.kid, publicKey: publicJwk(key), state, since, until };
}
