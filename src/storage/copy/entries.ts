import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { INDEX_KEY } from '../index-key.ts';
import type { Quota } from '../quota.ts';
import { type Entry, type Mutation, REFERENCE_NAMES } from '../store.ts';
import type { CopySide, WholeEntry } from './side.ts';

/** Entries that are read or written at once. */
const BATCH = 200;
/** Tries of a step that a busy server did not do in time. */
const TRIES = 4;
/** Bytes of a quota: a copy evicts nothing. */
const MOST = Number.MAX_SAFE_INTEGER;

const FAILED = 'A store failed, and the copy is unfinished: run the same command again.';

/** Begins to show a step. */
export type CopyProgress = (what: string) => { at(done: number, total?: number): void; done(): void };

/** Reads all entries in batches, without the store's own key. */
export async function* pagesOf(side: CopySide, progress?: ReturnType<CopyProgress>) {
  let [place, done, total]: [string | undefined, number, number | undefined] = [undefined, 0, undefined];
  do {
    const page = await again(() => side.scan(undefined, place, BATCH));
    yield page.entries.filter(({ kind }) => kind !== INDEX_KEY.kind);
    done += page.looked;
    total ??= page.total;
    progress?.at(done, total);
    place = page.next;
  } while (place !== undefined);
  progress?.done();
}

/** The same entries of another store. */
export function sameOf(side: CopySide, entries: readonly Entry[]): Promise<readonly (Entry | undefined)[]> {
  return again(() => Promise.all(entries.map(({ kind, id }) => side.get(kind, id))));
}

/** Adds what entries count towards. */
export async function charged(side: CopySide, entries: readonly Entry[]): Promise<readonly WholeEntry[]> {
  const charges = await again(() => side.charges(entries));
  return entries.map((entry, at) => {
    const { quota, network, wider, client } = charges[at] ?? {};
    if (typeof quota !== 'string') return entry;
    const unbounded: Quota = { name: quota, total: MOST, perClient: MOST, perNetwork: MOST, whenFull: 'evict' };
    return { ...entry, charge: { quota: unbounded, network: `${network}`, wider: `${wider}`, client: `${client}` } };
  });
}

/** Writes entries as they are, whatever is stored. */
export async function write(side: CopySide, entries: readonly WholeEntry[]): Promise<void> {
  const mutations = entries.flatMap((entry): Mutation[] => [
    { op: 'delete', kind: entry.kind, id: entry.id },
    { op: 'create', entry },
  ]);
  await again(() => side.commit(mutations));
  const used = entries.filter(({ consumedAt, revision }) => consumedAt !== undefined || revision > 1);
  if (used.length > 0) await again(() => side.use(used));
}

/** How many entries there are, and the sum of their hashes: the same in any order. */
export interface Sum {
  readonly count: number;
  readonly digest: string;
}

/** Sums up the entries of each kind that outlive `until`. */
export async function sumsOf(side: CopySide, until: number, progress?: ReturnType<CopyProgress>) {
  const sums = new Map<string, Sum>();
  for await (const page of pagesOf(side, progress)) {
    const entries = page.filter(({ expiresAt = until + 1 }) => expiresAt > until);
    for (const entry of await charged(side, entries)) {
      const { quota, ...parts } = entry.charge ?? {};
      const text = fieldsOf(entry) + JSON.stringify([quota?.name, parts]);
      const hash = createHash('sha256').update(text).digest().readBigUInt64BE();
      const { count, digest } = sums.get(entry.kind) ?? { count: 0, digest: '0' };
      const sum = BigInt.asUintN(64, BigInt(`0x${digest}`) + hash);
      sums.set(entry.kind, { count: count + 1, digest: sum.toString(16).padStart(16, '0') });
    }
  }
  return sums;
}

/** All that is stored of an entry but its charge. */
export function fieldsOf(entry: Entry | undefined): string {
  const { kind, id, payload, expiresAt, consumedAt, revision, references = {} } = entry ?? {};
  return JSON.stringify([
    ...[kind, id, payload, expiresAt, consumedAt, revision],
    ...REFERENCE_NAMES.map((name) => references[name]),
  ]);
}

/** A step that may be repeated. */
export async function again<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (thrown) {
      if (tries === TRIES) throw new Error(FAILED, { cause: (thrown as Error).cause ?? thrown });
      await pause(tries * 500);
    }
  }
}
