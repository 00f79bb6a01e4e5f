import { closeSync, fdatasync, openSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import type { Mutation, Replacement } from '../store.ts';

const syncData = promisify(fdatasync);

/** The write-ahead log of an open database. */
export interface WriteAheadLog {
  /** Syncs everything that was committed before the call. */
  readonly sync: () => Promise<void>;
  readonly close: () => void;
}

/** For a database that is not on a disk. */
export const NO_LOG: WriteAheadLog = { sync: async () => {}, close() {} };

/**
 * Takes over from SQLite to sync commits. SQLite still syncs the log before each checkpoint and when it starts the log
 * again, and so keeps the file sound.
 */
export function takeOverSync(database: DatabaseSync, path: string): WriteAheadLog {
  // Reading opens the log.
  database.exec('PRAGMA synchronous = NORMAL; SELECT 1 FROM entry LIMIT 1');
  const descriptor = openSync(`${path}-wal`, 'r+');
  return { sync: () => syncData(descriptor), close: () => closeSync(descriptor) };
}

/**
 * Tells when commits are durable. One sync, off the event loop, covers all commits that were made before it began.
 * SQLite itself would sync in each commit and block the event loop meanwhile, and with fsync, which also stores the
 * file's times and makes journaling file systems write several blocks more.
 */
export class Durability {
  readonly #sync: () => Promise<void>;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  /** The last sync that the entries of each name wait for. */
  readonly #unsynced = new Map<string, Promise<void>>();

  constructor(sync: () => Promise<void>) {
    this.#sync = sync;
  }

  /** To be called directly after a commit. Resolves when it is durable, and rejects if it may not be. */
  async committed(mutations: readonly (Mutation | Replacement)[]): Promise<void> {
    this.#next ??= this.#syncAfter(this.#running);
    const durable = this.#next;
    const names = mutations.map(nameOf);
    for (const name of names) this.#unsynced.set(name, durable);
    try {
      await durable;
    } finally {
      for (const name of names) if (this.#unsynced.get(name) === durable) this.#unsynced.delete(name);
    }
  }

  /**
   * Resolves when everything that was committed so far is durable; undefined if it is. Reads wait for it, because an
   * answer must not rest on what a power loss could undo.
   */
  all(): Promise<void> | undefined {
    return this.#next ?? this.#running;
  }

  /** The same for what was written to one entry. */
  entry(kind: string, id: string): Promise<void> | undefined {
    const alone = this.#unsynced.get(keyOf(kind, id));
    const withOthers = this.#unsynced.get(kind);
    // The later of the two may be either.
    return alone !== undefined && withOthers !== undefined ? this.all() : (alone ?? withOthers);
  }

  async #syncAfter(before: Promise<void> | undefined): Promise<void> {
    await before?.catch(() => {});
    const current = this.#next;
    this.#running = current;
    this.#next = undefined;
    try {
      await this.#sync();
    } finally {
      if (this.#running === current) this.#running = undefined;
    }
  }
}

/** The entry that a mutation changes, or the kind if it may change several. */
function nameOf(mutation: Mutation | Replacement): string {
  if (mutation.op === 'deleteBy') return mutation.kind;
  const { kind, id } = 'entry' in mutation ? mutation.entry : mutation;
  return keyOf(kind, id);
}

function keyOf(kind: string, id: string): string {
  return `${kind}\0${id}`;
}
