import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';

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
/** Bytes of one row of filler. */
const FILLER = 256 * 1024;
/** Rows of filler that are written in one step while the reserve is restored. */
const STEP = 2;
/** The same while the file grows: 1 MiB, and more for a larger transaction. */
const GROWTH = 4;

/** Bytes that the write-ahead log's own file keeps. It is reused from its beginning, so this much is reserved for it. */
const LOG = 4 * MIB;

/** Free pages that stay in the file: the next writes need them. */
const KEPT_FREE = 256;

/** Milliseconds for which the free space of the disk is believed. */
const BELIEVED = 100;

const SQLITE_FULL = 13;

/**
 * What the database may take of the disk, and what it gives back. Both parts of the reserve belong to our own files, so
 * no other program can take them: filler in the database, and the length of its write-ahead log.
 *
 * A commit only ever fills pages that have their place in the file; the file grows before it, some at a time. Otherwise
 * the log could hold pages for which the disk has no room any more, and would never be reused from its beginning. (A file
 * system that does not overwrite in place, such as ZFS or btrfs, needs free space even so.)
 */
export class SqliteSpace {
  readonly #database: DatabaseSync;
  readonly #free: () => number;
  readonly #pageSize: number;
  readonly #logFile: string;
  readonly #pragmas = new Map<string, StatementSync>();
  #mostPages = 0;

  constructor(database: DatabaseSync, path: string) {
    this.#database = database;
    this.#free = freeSpace(dirname(path));
    this.#pageSize = this.#number('page_size');
    this.#logFile = `${path}-wal`;
    // Nothing that a write needs besides may lie on a disk that is full.
    database.exec(`PRAGMA journal_size_limit = ${LOG}; PRAGMA temp_store = MEMORY;`);
  }

  /**
   * Runs one transaction. `begin` is to be called in it, first of all. Throws what it throws; one that does not fit is run
   * again with more room: from the disk above this writer's floor, and for what is vital then from the reserve.
   */
  write<T>(writer: Writer, transaction: (begin: () => void) => T): T {
    if (writer !== 'vital' && this.#free() < FLOOR[writer]) throw diskFull();
    for (let rows = GROWTH; ; rows *= 4) {
      this.#limitTo(this.#number('page_count'));
      try {
        return transaction(() => {});
      } catch (thrown) {
        if (!isFull(thrown)) throw thrown;
        if (this.#grow(rows, FLOOR[writer])) continue;
        if (writer !== 'vital') throw thrown;
      }
      break;
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
    this.#limitTo(this.#number('page_count'));
    const spare = this.#number('freelist_count') - KEPT_FREE;
    if (spare > 0) {
      const before = this.#number('page_count');
      this.#database.exec(`PRAGMA incremental_vacuum(${Math.min(limit, spare)})`);
      const given = before - this.#number('page_count');
      // A file of before that could not be rewritten gives nothing back.
      if (given > 0) return given;
    }
    if (this.#free() > FLOOR.stranger + LOG) {
      const reserved = this.#reserved();
      if (reserved < RESERVE) return this.#fill(STEP) ? (STEP * FILLER) / this.#pageSize : 0;
      // Left over from a crash while the file grew.
      if (reserved > RESERVE) this.#giveReserve((reserved - RESERVE) / FILLER);
      if (this.#logSize() < LOG) {
        // One transaction of that size makes it that long.
        const rows = `SELECT rowid FROM reserve LIMIT ${LOG / FILLER}`;
        this.#database.exec(`UPDATE reserve SET filler = randomblob(${FILLER}) WHERE rowid IN (${rows})`);
      }
    }
    this.#checkpoint('PASSIVE');
    return 0;
  }

  /** Adds free pages that have their place in the file. Returns false when the disk has no room for them. */
  #grow(rows: number, floor: number): boolean {
    // In the log as well as in the file.
    if (this.#free() < floor + 2 * rows * FILLER || !this.#fill(rows)) return false;
    this.#checkpoint('PASSIVE');
    this.#giveReserve(rows);
    return true;
  }

  #fill(rows: number): boolean {
    const pages = this.#number('page_count');
    this.#limitTo(pages + Math.ceil((rows * FILLER * 1.1) / this.#pageSize));
    try {
      const filler = `WITH RECURSIVE at (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM at WHERE n < ${rows})
        INSERT INTO reserve SELECT zeroblob(${FILLER}) FROM at`;
      this.#database.exec(filler);
      return true;
    } catch (thrown) {
      if (!isFull(thrown)) throw thrown;
      return false;
    } finally {
      this.#limitTo(this.#number('page_count'));
    }
  }

  #reserved(): number {
    return Number(this.#database.prepare('SELECT count(*) AS rows FROM reserve').get()?.rows) * FILLER;
  }

  #logSize(): number {
    return statSync(this.#logFile, { throwIfNoEntry: false })?.size ?? 0;
  }

  #giveReserve(rows: number): void {
    this.#database.exec(
      `DELETE FROM reserve WHERE rowid IN (SELECT rowid FROM reserve ORDER BY rowid DESC LIMIT ${rows})`,
    );
  }

  #limitTo(pages: number): void {
    if (pages === this.#mostPages) return;
    this.#database.exec(`PRAGMA max_page_count = ${pages}`);
    this.#mostPages = pages;
  }

  /** What cannot be written into the file stays in the log: nothing is lost by that. */
  #checkpoint(mode: 'PASSIVE' | 'RESTART'): void {
    try {
      this.#database.exec(`PRAGMA wal_checkpoint(${mode})`);
    } catch (thrown) {
      if (!isFull(thrown)) throw thrown;
    }
  }

  #number(pragma: string): number {
    const statement = this.#pragmas.get(pragma) ?? this.#database.prepare(`PRAGMA ${pragma}`);
    this.#pragmas.set(pragma, statement);
    return Number(statement.get()?.[pragma]);
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
