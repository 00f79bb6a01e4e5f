import { randomBytes } from 'node:crypto';
import { type Clock, jsonEntry, type Mutation, type Store } from '../../storage/store.ts';

/** In the part of the store that is the process's own. The id of the entry is the school's name. */
const KIND = 'School';
/** The ids that no school has any more, or not yet: what is stored below them is deleted. The id of the entry is that id. */
const FORMER_KIND = 'FormerSchool';
const PAGE = 500;
const TRIES = 5;
/**
 * Milliseconds after which a school without a file is one that was removed. Until then, a mistake in a mounted folder can
 * be undone, and replicas that read it earlier or later do not contradict each other.
 */
export const REMOVED_AFTER = 24 * 3_600_000;

export interface KnownSchool {
  readonly name: string;
  readonly id: string;
  /** When a process first had no file for it, in milliseconds since the epoch; undefined while there is one. */
  readonly absentSince?: number;
  /** When it was exported, likewise: it is not served here. */
  readonly movedAt?: number;
  /** The secrets of a school that was imported, which open what was sealed or signed where it came from. */
  readonly secrets?: readonly string[];
  /** When these are no longer needed, in milliseconds since the epoch; undefined: not known yet. */
  readonly secretsUntil?: number;
}

export interface FormerSchool {
  readonly id: string;
  /** When it became one. */
  readonly since: number;
}

type Stored<T> = T & { readonly revision: number };

/** The secrets of the school that also open and verify. `now` is in milliseconds. */
export function furtherSecretsOf({ secrets = [], secretsUntil }: KnownSchool, now: number): readonly string[] {
  return secretsUntil === undefined || now < secretsUntil ? secrets : [];
}

export function newSchoolId(): string {
  return randomBytes(12).toString('hex');
}

/**
 * Returns the ids of these schools, which their part of the store and their keys are derived from. An id is random, made
 * when a school first appears, and never used again once the school was removed: under the same name begins another
 * school, to which nothing of the former one opens. Throws GatewayError `store_unavailable`.
 */
export async function schoolIds(
  store: Pick<Store, 'scan' | 'commit'>,
  names: Iterable<string>,
  clock: Clock,
): Promise<ReadonlyMap<string, string>> {
  const wanted = new Set(names);
  for (let tries = 0; tries < TRIES; tries += 1) {
    const known = new Map((await knownSchools(store)).map((one) => [one.name, one]));
    const now = clock();
    const ids = new Map<string, string>();
    const mutations: Mutation[] = [];
    for (const name of wanted) {
      const found = known.get(name);
      const isRemoved = now - (found?.absentSince ?? now) >= REMOVED_AFTER;
      if (found === undefined || isRemoved) {
        const id = newSchoolId();
        ids.set(name, id);
        mutations.push(write({ name, id }, found?.revision));
        if (found !== undefined) mutations.push(former(found.id, now));
      } else {
        ids.set(name, found.id);
        const { absentSince, revision, ...kept } = found;
        if (absentSince !== undefined) mutations.push(write(kept, revision));
      }
    }
    for (const { revision, ...found } of known.values())
      if (!wanted.has(found.name) && found.absentSince === undefined)
        mutations.push(write({ ...found, absentSince: now }, revision));
    // Another process may have written the same ones: then its ids are taken.
    if (await commitAll(store, mutations)) return ids;
  }
  throw new Error('The ids of the schools are written by others again and again.');
}

/** What is known of the school of this name now; undefined if nothing is. */
export async function knownSchool(store: Pick<Store, 'get'>, name: string): Promise<Stored<KnownSchool> | undefined> {
  const entry = await store.get(KIND, name);
  return entry && { ...(JSON.parse(entry.payload) as KnownSchool), revision: entry.revision };
}

export function knownSchools(store: Pick<Store, 'scan'>): Promise<readonly Stored<KnownSchool>[]> {
  return read<KnownSchool>(store, KIND);
}

export function formerSchools(store: Pick<Store, 'scan'>): Promise<readonly FormerSchool[]> {
  return read<FormerSchool>(store, FORMER_KIND);
}

/** Writes what is known of a school, unless another process has done so since it was read. */
export function write(known: KnownSchool, revision: number | undefined): Mutation {
  const entry = jsonEntry(KIND, known.name, known, undefined);
  return revision === undefined ? { op: 'create', entry } : { op: 'update', entry, revision };
}

export function forget(name: string): Mutation {
  return { op: 'delete', kind: KIND, id: name };
}

export async function isFormerSchool(store: Pick<Store, 'get'>, id: string): Promise<boolean> {
  return (await store.get(FORMER_KIND, id)) !== undefined;
}

export function former(id: string, since: number): Mutation {
  return { op: 'put', entry: jsonEntry(FORMER_KIND, id, { id, since } satisfies FormerSchool, undefined) };
}

export function noLongerFormer(id: string): Mutation {
  return { op: 'delete', kind: FORMER_KIND, id };
}

async function read<T>(store: Pick<Store, 'scan'>, kind: string) {
  const found = new Map<string, Stored<T>>();
  for (let from: string | undefined; ; ) {
    const { entries, next } = await store.scan([kind], from, PAGE);
    for (const { id, payload, revision } of entries) found.set(id, { ...(JSON.parse(payload) as T), revision });
    if (next === undefined) return [...found.values()];
    from = next;
  }
}

async function commitAll(store: Pick<Store, 'commit'>, mutations: readonly Mutation[]): Promise<boolean> {
  for (let at = 0; at < mutations.length; at += PAGE)
    if (!(await store.commit(mutations.slice(at, at + PAGE)))) return false;
  return true;
}
