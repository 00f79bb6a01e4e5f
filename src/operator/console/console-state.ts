import { type Clock, jsonEntry, type Store, unixSeconds } from '../../storage/store.ts';
import type { Directory } from './directory/directory.ts';

/** What outlives a reload of the configuration. */
export function consoleState() {
  return {
    /** Links that were used and sessions that were signed out, with the Unix seconds after which they are invalid anyway. */
    used: new Map<string, number>(),
    /** What the last action of a session did: shown once. */
    notices: new Map<string, string>(),
    /** Members, apps and grants to search; made with the first page. */
    directory: undefined as Directory | undefined,
  };
}

export type ConsoleState = ReturnType<typeof consoleState>;

/** What must not be used again. */
export type OnceOnly = ReturnType<typeof onceOnly>;

const KIND = 'ConsoleUsed';
/** Entries of each map. Only operators make them. */
const MOST = 1000;

/** Adds an entry, and drops the oldest one if there are too many. */
export function keep<V>(map: Map<string, V>, key: string, value: V): void {
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > MOST && oldest !== undefined) map.delete(oldest);
}

/**
 * Remembers in this process and, for the replicas and the next start, in the store. While the store is down, this process
 * alone knows: an operator must be able to see what is wrong.
 */
export function onceOnly(
  { used }: Pick<ConsoleState, 'used'>,
  { store, clock, onError }: { store: Store; clock: Clock; onError: (error: unknown) => void },
) {
  return {
    /** Marks it for so many seconds. False if it was marked before. */
    async use(mark: string, seconds: number): Promise<boolean> {
      const now = unixSeconds(clock);
      for (const [one, until] of used) if (until < now) used.delete(one);
      if (used.has(mark)) return false;
      keep(used, mark, now + seconds);
      try {
        return await store.commit([{ op: 'create', entry: jsonEntry(KIND, mark, {}, now + seconds) }], 'vital');
      } catch (thrown) {
        onError(thrown);
        return true;
      }
    },
    /** @param certainly whether to throw `store_unavailable` rather than not to know what other replicas have marked */
    async isUsed(mark: string, certainly: boolean): Promise<boolean> {
      if (used.has(mark)) return true;
      try {
        return (await store.get(KIND, mark)) !== undefined;
      } catch (thrown) {
        if (certainly) throw thrown;
        return false;
      }
    },
  };
}
