import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';

/** Who writes: a stranger's entries are refused first, then everything ordinary; what is vital may use the reserve. */
export type Writer = 'stranger' | 'ordinary' | 'vital';

const MIB = 1024 * 1024;

/** Bytes that must be free on the disk for these writes, and for the file to grow. */
const FLOOR: Readonly<Record<Writer, number>> = {
  stranger: 32 * MIB,
  ordinary: 8 * MIB,
  vital: 1 * MIB,
};

/** Bytes of filler in the file. A vital write that does not fit takes the place of some of it. */
const RESERVE = 8 * MIB;
/** Bytes of one row of filler, and of one step in which the reserve is restored. */
const FILLER = 256 * 1024;

/** Bytes that the write-ahead log's own file keeps. It is reused from its beginning, so this much is reserved for it. */
const LOG = 4 * MIB;

/** Free pages that stay in the file: the next writes need them. */
const KEPT_FREE = 256;

/** Milliseconds for which the free space of the disk is believed. */
const BELIEVED = 100;

const SQLITE_FULL = 13;

/**
 * What the database may take of the disk, and what it gives back. Both parts of the reserve belong to our own files, so
 * no other program can take them: filler in the database, and the length of its write-ahead log. Growth stops while some
 * space is left, because pages that are in the log and have no place in the file would keep the log from being reused.
 * (A file system that never overwrites in place, such as ZFS or btrfs, needs free space even so.)
 */
export class SqliteSpace {
  readonly #database: DatabaseSync;
  readonly #free: () => number;
  readonly #pageSize: number;
  readonly #logFile: string;
  #limited = false;
  #unwrittenGrowth = false;

  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#free = freeSpace(dirname(path));
    this.#pageSize = this.#number('page_size');
    database.exec(
      // Nothing that a write needs besides may lie on a disk that is full.
      `PRAGMA journal_size_limit = ${LOG}; PRAGMA temp_store = MEMORY;`,
    );
    this.#logFile = `${path}-wal`;
  }

  /**
   * Runs one transaction. `begin` is to be called in it, first of all. Throws what it throws; a vital transaction for
   * which the disk has no room is run again, with more of the reserve each time.
   */
  write<T>(writer: Writer, transaction: (begin: () => void) => T): T {
    if (writer !== 'vital' && this.#free() < FLOOR[writer]) throw diskFull();
    const pages = this.#limitGrowth(FLOOR[writer]);
    try {
      const result = transaction(() => {});
      this.#settle(pages);
      return result;
    } catch (thrown) {
      if (writer !== 'vital' || !isFull(thrown)) throw thrown;
    }
    this.#checkpoint('RESTART');
    for (let rows = 1; ; rows *= 4) {
      try {
        return transaction(() => this.#giveReserve(rows));
      } catch (thrown) {
        if (!isFull(thrown) || rows * FILLER >= RESERVE) throw thrown;
      }
    }
  }

  /** One step of giving deleted pages back to the disk, or of restoring the reserve. Returns how many pages it moved. */
  compact(limit: number): number {
    this.#limitGrowth(FLOOR.stranger);
    const spare = this.#number('freelist_count') - KEPT_FREE;
    if (spare > 0) {
      const before = this.#number('page_count');
      this.#database.exec(`PRAGMA incremental_vacuum(${Math.min(limit, spare)})`);
      const given = before - this.#number('page_count');
      // A file of before that could not be rewritten gives nothing back.
      if (given > 0) return given;
    }
    if (this.#free() > FLOOR.stranger + LOG) {
      if (this.#reserved() < RESERVE) {
        this.#database.exec(`INSERT INTO reserve VALUES (randomblob(${FILLER}))`);
        return FILLER / this.#pageSize;
      }
      if (this.#logSize() < LOG) {
        // One transaction of that size makes it that long.
        const rows = `SELECT rowid FROM reserve LIMIT ${LOG / FILLER}`;
        this.#database.exec(`UPDATE reserve SET filler = randomblob(${FILLER}) WHERE rowid IN (${rows})`);
      }
    }
    this.#checkpoint('PASSIVE');
    return 0;
  }

  #reserved(): number {
    return Number(this.#database.prepare('SELECT count(*) AS rows FROM reserve').get()?.rows) * FILLER;
  }

  #logSize(): number {
    return statSync(this.#logFile, { throwIfNoEntry: false })?.size ?? 0;
  }

  #giveReserve(rows: number): void {
    this.#database.exec(`DELETE FROM reserve WHERE rowid IN (SELECT rowid FROM reserve LIMIT ${rows})`);
  }

  /** Lets the file grow by what is free beyond the floor. Returns the pages it has now; undefined when space is ample. */
  #limitGrowth(floor: number): number | undefined {
    const room = this.#free() - floor;
    if (room > 512 * MIB) {
      if (this.#limited) this.#database.exec('PRAGMA max_page_count = 4294967294');
      this.#limited = false;
      return undefined;
    }
    const pages = this.#number('page_count');
    this.#database.exec(`PRAGMA max_page_count = ${pages + Math.max(0, Math.floor(room / this.#pageSize))}`);
    this.#limited = true;
    return pages;
  }

  /** While space is short, pages get their place in the file at once: later there may be none left for them. */
  #settle(before: number | undefined): void {
    if (before === undefined) return;
    this.#unwrittenGrowth ||= this.#number('page_count') > before;
    if (this.#unwrittenGrowth && this.#free() < FLOOR.stranger * 2) {
      this.#unwrittenGrowth = !this.#checkpoint('PASSIVE');
    }
  }

  /** Returns whether the whole log is in the file now. The log is kept when it is not: nothing is lost by that. */
  #checkpoint(mode: 'PASSIVE' | 'RESTART'): boolean {
    try {
      const done = this.#database.prepare(`PRAGMA wal_checkpoint(${mode})`).get();
      return done?.busy === 0 && done.log === done.checkpointed;
    } catch (thrown) {
      if (!isFull(thrown)) throw thrown;
      return false;
    }
  }

  #number(pragma: string): number {
    return Number(this.#database.prepare(`PRAGMA ${pragma}`).get()?.[pragma]);
  }
}

function isFull(thrown: unknown): boolean {
  return (thrown as { errcode?: number }).errcode === SQLITE_FULL;
}

/** As SQLite says it. */
function diskFull(): Error {
  return Object.assign(new Error('the disk is full, or nearly: writes that it has no room for are refused'), {
    errcode: SQLITE_FULL,
  });
}

/** The bytes that are free where a folder is; any number of them where the system does not say. */
function freeSpace(folder: string): () => number {
  let asked = Number.NEGATIVE_INFINITY;
  let free = Number.POSITIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (now - asked >= BELIEVED) {
      asked = now;
      try {
        const { bavail, bsize } = statfsSync(folder);
        free = bavail * bsize;
      } catch {
        free = Number.POSITIVE_INFINITY;
      }
    }
    return free;
  };
}
