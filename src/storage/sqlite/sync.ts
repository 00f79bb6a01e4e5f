import { closeSync, fdatasync, openSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import type { RawMutation } from '../store.ts';

const syncData = promisify(fdatasync);

/** The write-ahead log of an open database. */
export type WriteAheadLog = ReturnType<typeof takeOverSync>;

/** For a database that is not on a disk. */
export const NO_LOG: WriteAheadLog = { sync: async () => {}, close() {} };

/**
 * Takes over from SQLite to sync commits. SQLite still syncs the log before each checkpoint and when it starts the log
 * again, and so keeps the file sound.
 */
export function takeOverSync(database: DatabaseSync, path: string) {
  // Reading opens the log.
  database.exec('PRAGMA synchronous = NORMAL; SELECT 1 FROM entry LIMIT 1');
  const descriptor = openSync(`${path}-wal`, 'r+');
  return {
    /** Syncs everything that was committed before the call. */
    sync: () => syncData(descriptor),
    close: () => closeSync(descriptor),
  };
}

/**
 * Tells when commits are durable. One sync, off the event loop, covers all commits that were made before it began.
 * SQLite itself would sync in each commit and block the event loop meanwhile, and with fsync, which also stores the
 * file's times and makes journaling file systems write several blocks more.
 */
export function durability(sync: () => Promise<void>) {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  /** The last sync that the entries of each name wait for. */
  const unsynced = new Map<string, Promise<void>>();

  const syncAfter = async (before: Promise<void> | undefined): Promise<void> => {
    await before?.catch(() => {});
    const current = next;
    running = current;
    next = undefined;
    try {
      await sync();
    } finally {
      if (running === current) running = undefined;
    }
  };
  /**
   * Resolves when everything that was committed so far is durable; undefined if it is. Reads wait for it, because an
   * answer must not rest on what a power loss could undo.
   */
  const all = (): Promise<void> | undefined => next ?? running;

  return {
    all,

    /** To be called directly after a commit. Resolves when it is durable, and rejects if it may not be. */
    async committed(mutations: readonly RawMutation[]): Promise<void> {
      next ??= syncAfter(running);
      const durable = next;
      const names = mutations.map(nameOf);
      for (const name of names) unsynced.set(name, durable);
      try {
        await durable;
      } finally {
        for (const name of names) if (unsynced.get(name) === durable) unsynced.delete(name);
      }
    },

    /** The same as `all` for what was written to one entry. */
    entry(kind: string, id: string): Promise<void> | undefined {
      const alone = unsynced.get(keyOf(kind, id));
      const withOthers = unsynced.get(kind);
      // The later of the two may be either.
      return alone !== undefined && withOthers !== undefined ? all() : (alone ?? withOthers);
    },
  };
}

/** The entry that a mutation changes, or the kind if it may change several. */
function nameOf(mutation: RawMutation): string {
  if (mutation.op === 'deleteBy') return mutation.kind;
  const { kind, id } = 'entry' in mutation ? mutation.entry : mutation;
  return keyOf(kind, id);
}

function keyOf(kind: string, id: string): string {
  return `${kind}\0${id}`;
}
