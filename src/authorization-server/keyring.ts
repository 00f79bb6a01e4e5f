import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import { GatewayError } from '../errors.ts';
import { type Clock, type Store, unixSeconds } from '../storage/store.ts';

const KIND = 'SigningKeys';
const CURRENT = 'current';

/**
 * Seconds that a key is published after it signed its last: longer than any ID token or assertion is good for (RFC 7519
 * `exp`), and than anybody has a reason to look at one again.
 */
const VERIFIES = 86_400;

/** Seconds that others may keep our key set: a key that is published for shorter may be unknown where it is needed. */
const REMEMBERED = 3600;

/** Tries to write a change while others write theirs. */
const TRIES = 5;

/** One generation of keys. All are published; `current` signs. */
interface Generation {
  readonly version: number;
  /** Unix seconds at which `current` began to sign. */
  readonly since: number;
  readonly current: PrivateJwk;
  /** Published before it signs, so that whoever caches the key set has it in time. */
  readonly next: PrivateJwk;
  /** Unix seconds at which `next` was first published. */
  readonly nextSince: number;
  /** Published after they signed, so that what they signed still verifies; the last one first. */
  readonly retired: readonly Retired[];
}

interface Retired {
  readonly key: PrivateJwk;
  /** Unix seconds. */
  readonly since: number;
  readonly until: number;
}

export type PrivateJwk = JWK & { readonly kid: string };

/** A key as it may be told of: nothing private. Times are Unix seconds. */
interface KeyDescription {
  readonly kid: string;
  readonly state: 'signing' | 'next' | 'verifying';
  /** When it came into this state. */
  readonly since: number;
  /** When it leaves it, as far as that is known. */
  readonly until: number | undefined;
  readonly publicKey: JWK;
}

export interface Keyring {
  /** Another text whenever the keys that are published are others. */
  readonly version: () => string;
  /** Private JWKs of one generation, the signing one first: the order in which oidc-provider picks. */
  readonly privateKeys: () => readonly JWK[];
  /** The key that signs now: for the identity assertion. */
  readonly signing: () => { readonly kid: string; readonly key: CryptoKey };
  /** Unix seconds at which it began to. */
  readonly since: () => number;
  readonly list: () => readonly KeyDescription[];
  /**
   * Moves on by one generation: next signs, current is kept for verifying, a new next is published. Out: how many seconds
   * are missing when next is published for too short a time and `now` is not wanted: then nothing is done.
   */
  rotate(now?: boolean): Promise<number>;
  /** Takes a key as the next one, in place of the one that waits. Out: false when it is there already. */
  replaceNext(key: PrivateJwk): Promise<boolean>;
  /** Ends a key at once: it signs nothing more and is not published. Out: false when there is none of that name. */
  remove(kid: string): Promise<boolean>;
  /**
   * Takes over what another replica or command changed, and rotates itself when the signing key is older than its
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
  const rotate = async (told: (keyId: string) => void = () => {}): Promise<boolean> => {
    const { won, standing: stands } = await write(store, await moved(generation));
    const changed = await adopt(stands);
    if (won) told(stands.current.kid);
    return changed;
  };
  /** In: what makes the next generation of one; undefined: nothing is to be changed. Out: whether it was changed. */
  const change = async (make: (from: Generation) => Promise<Generation | undefined>): Promise<boolean> => {
    for (let left = TRIES; left > 0; left -= 1) {
      await adopt((await load(store)) ?? generation);
      const wanted = await make(generation);
      if (wanted === undefined) return false;
      const { won, standing: stands } = await write(store, wanted);
      await adopt(stands);
      if (won) return true;
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
        { ...describe(current), state: 'signing', since, until: since + lifetime() },
        { ...describe(next), state: 'next', since: nextSince, until: since + lifetime() },
        ...standing(generation).map((retired) => ({
          ...describe(retired.key),
          state: 'verifying' as const,
          since: retired.since,
          until: retired.until,
        })),
      ];
    },
    async rotate(now = true) {
      const missing = generation.nextSince + REMEMBERED - unixSeconds(clock);
      if (!now && missing > 0) return missing;
      await rotate();
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
      if (unixSeconds(clock) - generation.since >= lifetime()) return rotate(due);
      return adopted;
    },
  };
}

async function load(store: Store): Promise<Generation | undefined> {
  const entry = await store.get(KIND, CURRENT);
  return entry === undefined ? undefined : (JSON.parse(entry.payload) as Generation);
}

/** Out: the generation that stands: this one, or the one somebody else wrote under the same number. */
async function write(
  store: Store,
  generation: Generation,
): Promise<{ readonly won: boolean; readonly standing: Generation }> {
  const entry = { kind: KIND, payload: JSON.stringify(generation), expiresAt: undefined, references: {} };
  const won = await store.commit(
    [
      { op: 'create', entry: { ...entry, id: `generation-${generation.version}` } },
      { op: 'put', entry: { ...entry, id: CURRENT } },
    ],
    'vital',
  );
  if (won) return { won, standing: generation };
  const standing = await load(store);
  // It is there, since we lost to it, and cannot be read: with keys of our own no other replica would know what we sign.
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

/** In: a private P-256 JWK. Out: the same as it is kept, named by its thumbprint (RFC 7638). */
export async function signingJwk({ kty, crv, x, y, d }: JWK): Promise<PrivateJwk> {
  const jwk = { kty, crv, x, y, d } as JWK;
  return { ...jwk, alg: 'ES256', use: 'sig', kid: await calculateJwkThumbprint(jwk) };
}

function describe({ d: _private, ...publicKey }: PrivateJwk): Pick<KeyDescription, 'kid' | 'publicKey'> {
  return { kid: publicKey.kid, publicKey };
}

async function importKey(jwk: PrivateJwk): Promise<CryptoKey> {
  return (await importJWK(jwk, 'ES256')) as CryptoKey;
}
