import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { diskFull, FILLER, isFull, sqlitePages } from './pages.ts';

/**
 * The kind of write. As the disk fills up, strangers' entries are refused first, then everything ordinary; vital writes
 * may use the reserve.
 */
export type Writer = 'stranger' | 'ordinary' | 'vital';

/** Work in one transaction, which calls `begin` first. */
export type Transaction<T> = (begin: () => void) => T;

const MIB = 1024 * 1024;

/** Bytes that must be free on the disk for each kind of write, and for the file to grow. */
const FLOOR: Readonly<Record<Writer, number>> = {
  stranger: 32 * MIB,
  ordinary: 8 * MIB,
  vital: 1 * MIB,
};

/** Bytes of filler in the file. A vital write that does not fit replaces part of it. */
const RESERVE = 8 * MIB;
/** Filler rows that are written per step while the reserve is being restored. */
const STEP = 2;
/** Filler rows per step while the file grows: 1 MiB, and more for a larger transaction. */
const GROWTH = 4;

/**
 * Size in bytes that the write-ahead log's file keeps. The log is reused from its beginning, so this much is reserved
 * for it.
 */
const LOG = 4 * MIB;

/** Free pages that stay in the file for the next writes. */
const KEPT_FREE = 256;

/** Milliseconds for which the disk's free space is cached. */
const BELIEVED = 100;

export type SqliteSpace = ReturnType<typeof sqliteSpace>;

/**
 * Manages the database's disk space. Both parts of the reserve belong to our own files, so no other program can take
 * them: filler rows in the database, and the length of its write-ahead log.
 *
 * A commit only fills pages that are already allocated in the file; the file grows before a commit, some pages at a
 * time. Otherwise the log could hold pages that no longer fit on the disk, and would never be reused from its
 * beginning. (File systems that do not overwrite in place, such as ZFS or btrfs, need free space even so.)
 */
export function sqliteSpace(database: DatabaseSync, path: string) {
  const free = freeSpace(dirname(path));
  const pages = sqlitePages(database);
  // No temporary file of a write may be on a disk that is full.
  database.exec(`PRAGMA journal_size_limit = ${LOG}; PRAGMA temp_store = MEMORY;`);
  // From here on, only filling and vacuuming change the size of the file, and both fix it again.
  pages.fix();

  /** Adds free pages that are allocated in the file. Returns false if the disk has no room for them. */
  const grow = (rows: number, floor: number): boolean => {
    // Twice the size: in the log as well as in the file.
    if (free() < floor + 2 * rows * FILLER || !pages.fill(rows)) return false;
    pages.checkpoint('PASSIVE');
    pages.release(rows);
    return true;
  };

  return {
    /**
     * Runs one transaction, which must call `begin` first. Rethrows its errors. A transaction that does not fit is run
     * again with more room: from the disk above the floor of this kind of write, and for vital writes also from the
     * reserve.
     */
    write<T>(writer: Writer, transaction: Transaction<T>): T {
      if (writer !== 'vital' && free() < FLOOR[writer]) throw diskFull();
      for (let rows = GROWTH; ; rows *= 4) {
        try {
          return transaction(() => {});
        } catch (thrown) {
          if (!isFull(thrown)) throw thrown;
          if (grow(rows, FLOOR[writer])) continue;
          if (writer !== 'vital') throw thrown;
        }
        break;
      }
      pages.checkpoint('RESTART');
      for (let rows = 1; ; rows *= 4) {
        try {
          return transaction(() => pages.release(rows));
        } catch (thrown) {
          if (!isFull(thrown) || rows * FILLER >= RESERVE) throw thrown;
        }
      }
    },

    /** One step of returning deleted pages to the disk, or of restoring the reserve. Returns how many pages it moved. */
    compact(limit: number): number {
      const spare = pages.number('freelist_count') - KEPT_FREE;
      if (spare > 0) {
        const before = pages.number('page_count');
        database.exec(`PRAGMA incremental_vacuum(${Math.min(limit, spare)})`);
        pages.fix();
        const given = before - pages.number('page_count');
        if (given > 0) return given;
      }
      if (free() > FLOOR.stranger + LOG) {
        const reserved = pages.filled();
        if (reserved < RESERVE) return pages.fill(STEP) ? (STEP * FILLER) / pages.size : 0;
        // Left over from a crash while the file was growing.
        if (reserved > RESERVE) pages.release((reserved - RESERVE) / FILLER);
        if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) < LOG) {
          // One transaction of that size makes the log that long.
          const rows = `SELECT rowid FROM reserve LIMIT ${LOG / FILLER}`;
          database.exec(`UPDATE reserve SET filler = randomblob(${FILLER}) WHERE rowid IN (${rows})`);
        }
      }
      pages.checkpoint('PASSIVE');
      return 0;
    },
  };
}

/** The free bytes on the disk of a folder; Infinity if the system does not report them. */
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
