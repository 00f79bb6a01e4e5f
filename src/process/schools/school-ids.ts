import { randomBytes } from 'node:crypto';
import { type Clock, jsonEntry, type Mutation, type Store } from '../../storage/store.ts';

/** In the part of the store that is the process's own. The id of the entry is the school's name. */
const KIND = 'School';
const PAGE = 500;
const TRIES = 5;
/**
 * Milliseconds after which a school without a file is one that was removed. Until then, a mistake in a mounted folder can
 * be undone, and replicas that read it earlier or later do not contradict each other.
 */
const REMOVED_AFTER = 24 * 3_600_000;

interface Known {
  readonly name: string;
  readonly id: string;
  /** When a process first had no file for it, in milliseconds since the epoch; undefined while there is one. */
  readonly absentSince?: number;
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
    const known = await read(store);
    const now = clock();
    const ids = new Map<string, string>();
    const mutations: Mutation[] = [];
    const put = (entry: Known, revision?: number) => {
      const written = jsonEntry(KIND, entry.name, entry, undefined);
      mutations.push(
        revision === undefined ? { op: 'create', entry: written } : { op: 'update', entry: written, revision },
      );
    };
    for (const name of wanted) {
      const found = known.get(name);
      const isRemoved = now - (found?.absentSince ?? now) >= REMOVED_AFTER;
      const id = found === undefined || isRemoved ? randomBytes(12).toString('hex') : found.id;
      ids.set(name, id);
      if (found?.id !== id || found.absentSince !== undefined) put({ name, id }, found?.revision);
    }
    for (const { name, id, absentSince, revision } of known.values())
      if (!wanted.has(name) && absentSince === undefined) put({ name, id, absentSince: now }, revision);
    // Another process may have written the same ones: then its ids are taken.
    if (await commitAll(store, mutations)) return ids;
  }
  throw new Error('The ids of the schools are written by others again and again.');
}

async function read(store: Pick<Store, 'scan'>) {
  const known = new Map<string, Known & { readonly revision: number }>();
  for (let from: string | undefined; ; ) {
    const { entries, next } = await store.scan([KIND], from, PAGE);
    for (const { payload, revision } of entries) {
      const entry = JSON.parse(payload) as Known;
      known.set(entry.name, { ...entry, revision });
    }
    if (next === undefined) return known;
    from = next;
  }
}

async function commitAll(store: Pick<Store, 'commit'>, mutations: readonly Mutation[]): Promise<boolean> {
  for (let at = 0; at < mutations.length; at += PAGE)
    if (!(await store.commit(mutations.slice(at, at + PAGE)))) return false;
  return true;
}
