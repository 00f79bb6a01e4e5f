import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** Bytes of one filler row. */
export const FILLER = 256 * 1024;

const SQLITE_FULL = 13;

/**
 * The pages of the database file: how many there are, how many there may be, and the filler rows that keep some of them
 * allocated.
 */
export function sqlitePages(database: DatabaseSync) {
  const pragmas = new Map<string, StatementSync>();
  let most = 0;
  /** The value of a pragma. */
  const number = (pragma: string): number => {
    const statement = pragmas.get(pragma) ?? database.prepare(`PRAGMA ${pragma}`);
    pragmas.set(pragma, statement);
    return Number(statement.get()?.[pragma]);
  };
  const limitTo = (pages: number): void => {
    if (pages === most) return;
    database.exec(`PRAGMA max_page_count = ${pages}`);
    most = pages;
  };
  const size = number('page_size');
  /** Keeps the file from growing. */
  const fix = () => limitTo(number('page_count'));

  return {
    size,
    number,
    fix,

    /** Adds filler rows, for which the file may grow. Returns false if the disk has no room for them. */
    fill(rows: number): boolean {
      limitTo(number('page_count') + Math.ceil((rows * FILLER * 1.1) / size));
      try {
        const filler = `WITH RECURSIVE at (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM at WHERE n < ${rows})
        INSERT INTO reserve SELECT zeroblob(${FILLER}) FROM at`;
        database.exec(filler);
        return true;
      } catch (thrown) {
        if (!isFull(thrown)) throw thrown;
        return false;
      } finally {
        fix();
      }
    },

    /** The bytes of all filler rows. */
    filled: () => Number(database.prepare('SELECT count(*) AS rows FROM reserve').get()?.rows) * FILLER,

    /** Deletes filler rows: their pages stay in the file, free. */
    release(rows: number): void {
      database.exec(`DELETE FROM reserve WHERE rowid IN (SELECT rowid FROM reserve ORDER BY rowid DESC LIMIT ${rows})`);
    },

    /** Pages that cannot be written into the file stay in the log, so nothing is lost. */
    checkpoint(mode: 'PASSIVE' | 'RESTART'): void {
      try {
        database.exec(`PRAGMA wal_checkpoint(${mode})`);
      } catch (thrown) {
        if (!isFull(thrown)) throw thrown;
      }
    },
  };
}

export function isFull(thrown: unknown): boolean {
  return (thrown as { errcode?: number }).errcode === SQLITE_FULL;
}

/** The error that SQLite would throw. */
export function diskFull(): Error {
  return Object.assign(new Error('the disk is full, or nearly full: writes without enough space are refused'), {
    errcode: SQLITE_FULL,
  });
}
