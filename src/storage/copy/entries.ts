import { createHash } from 'node:crypto';
import { INDEX_KEY } from '../index-key.ts';
import type { Entry, RawMutation, RawStore, StoredEntry } from '../store.ts';
import type { Pace } from '../sweep.ts';

/** Entries that are read or written at once. */
const BATCH = 200;
/** Tries of a step that a busy server did not do in time. */
const TRIES = 4;
/** What each copy takes from the age of an entry: more than a store ever gives. */
const AGES = 2 ** 40;

const FAILED = 'A store failed, and the copy is unfinished: run the same command again.';

/** Begins to show a step. */
export type CopyProgress = (what: string) => { at(done: number, total?: number): void; done(): void };

/** A store that a copy reads or writes. Each step is tried again when a busy server did not do it in time. */
export type CopiedStore = ReturnType<typeof copiedStore>;

export function copiedStore(raw: Pick<RawStore, 'get' | 'scan' | 'commit'>, rest: Pace['rest']) {
  const again = async <T>(work: () => Promise<T>): Promise<T> => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await work();
      } catch (thrown) {
        if (tries === TRIES) throw new Error(FAILED, { cause: (thrown as Error).cause ?? thrown });
        await rest(tries * 500);
      }
    }
  };
  return {
    key: () => again(() => raw.get(INDEX_KEY.kind, INDEX_KEY.id)),
    /** Not tried again, because only one of several copies may succeed. */
    setKey: (mutation: RawMutation) => raw.commit([mutation]),
    /** The same entries as in another store. */
    sameOf: (entries: readonly Entry[]) => again(() => Promise.all(entries.map(({ kind, id }) => raw.get(kind, id)))),
    remove: (entries: readonly Entry[]) =>
      again(() => raw.commit(entries.map(({ kind, id }) => ({ op: 'delete', kind, id })))),
    /** Writes entries as they are, whatever is stored. They are older than all that a gate will write. */
    restore: (entries: readonly StoredEntry[]) =>
      again(() =>
        raw.commit(
          entries.map(({ charge, ...entry }) => ({
            ...{ op: 'restore', ...entry },
            charge: charge && { ...charge, age: charge.age - AGES },
          })),
        ),
      ),
    /** Reads all entries in batches, without the store's own key. */
    async *pages(progress?: ReturnType<CopyProgress>): AsyncGenerator<readonly StoredEntry[]> {
      let [from, done, total]: [string | undefined, number, number | undefined] = [undefined, 0, undefined];
      do {
        const page = await again(() => raw.scan(undefined, from, BATCH));
        yield page.entries.filter(({ kind }) => kind !== INDEX_KEY.kind);
        done += page.looked;
        total ??= page.total;
        progress?.at(done, total);
        from = page.next;
      } while (from !== undefined);
      progress?.done();
    },
  };
}

/** How many entries there are, and the sum of their hashes: the same in any order. */
export interface Sum {
  readonly count: number;
  readonly digest: string;
}

/** Sums up the entries of each kind that outlive `until`. */
export async function sumsOf(store: Pick<CopiedStore, 'pages'>, until: number, progress?: ReturnType<CopyProgress>) {
  const sums = new Map<string, Sum>();
  for await (const page of store.pages(progress)) {
    for (const entry of page.filter(({ expiresAt = until + 1 }) => expiresAt > until)) {
      const hash = createHash('sha256').update(textOf(entry)).digest().readBigUInt64BE();
      const { count, digest } = sums.get(entry.kind) ?? { count: 0, digest: '0' };
      const sum = BigInt.asUintN(64, BigInt(`0x${digest}`) + hash);
      sums.set(entry.kind, { count: count + 1, digest: sum.toString(16).padStart(16, '0') });
    }
  }
  return sums;
}

/** All that is stored of an entry but its age, as text. */
export function textOf(entry: StoredEntry | undefined): string {
  return JSON.stringify({ ...entry, charge: entry?.charge && { ...entry.charge, age: undefined } });
}
