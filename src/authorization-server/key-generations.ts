import { GatewayError } from '../errors.ts';
import { jsonEntry, type Mutation, readJson, type Store } from '../storage/store.ts';
import { ALGORITHMS, type Algorithm, createKey, type PrivateJwk } from './signing-key.ts';

const KIND = 'SigningKeys';

/** Attempts to write a change while other processes also write. */
export const TRIES = 5;

/** One generation of the keys of an algorithm. All are published; `current` signs. */
export interface KeyGeneration {
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

export type KeyGenerations = Readonly<Record<Algorithm, KeyGeneration>>;

/** Returns the stored keys. Creates keys for each algorithm that has none in the store. */
export async function openGenerations(store: Store, now: number): Promise<KeyGenerations> {
  for (let left = TRIES; left > 0; left -= 1) {
    const found = byAlgorithm(await stored(store));
    const missing = ALGORITHMS.filter((alg) => found[alg] === undefined);
    if (missing.length === 0) return found as KeyGenerations;
    await write(store, await Promise.all(missing.map((alg) => firstGeneration(alg, now))));
  }
  // They exist, since they cannot be created, but cannot be read. With keys of our own, no other replica could verify
  // what we sign.
  throw new GatewayError('store_unavailable');
}

/** The stored generations, if any. */
export async function stored(store: Store): Promise<readonly KeyGeneration[]> {
  const read = await Promise.all(ALGORITHMS.map((alg) => readJson<KeyGeneration>(store, KIND, `current-${alg}`)));
  return read.filter((one) => one !== undefined);
}

/** Writes generations, all or none. Returns false if another process has written the same version. */
export function write(store: Store, generations: readonly KeyGeneration[]): Promise<boolean> {
  const mutations = generations.flatMap((generation): readonly Mutation[] => {
    const { alg } = generation.current;
    const entry = jsonEntry(KIND, `current-${alg}`, generation, undefined);
    return [
      { op: 'create', entry: { ...entry, id: `generation-${alg}-${generation.version}` } },
      { op: 'put', entry },
    ];
  });
  return store.commit(mutations, 'vital');
}

async function firstGeneration(alg: Algorithm, now: number): Promise<KeyGeneration> {
  const [current, next] = await Promise.all([createKey(alg), createKey(alg)]);
  return { version: 1, since: now, current, next, nextSince: now, retired: [] };
}

export function byAlgorithm(generations: readonly KeyGeneration[]): Partial<KeyGenerations> {
  return Object.fromEntries(generations.map((one) => [one.current.alg, one]));
}
