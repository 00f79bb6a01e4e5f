import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** Bytes of one filler row. */
export const FILLER = 256 * 1024;

const SQLITE_FULL = 13;

/**
 * The pages of the database file: how many there are, how many there may be, and the filler rows that keep some of them
 * allocated.
 */
export class SqlitePages {
  readonly size: number;
  readonly #database: DatabaseSync;
  readonly #pragmas = new Map<string, StatementSync>();
  #most = 0;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.size = this.number('page_size');
  }

  /** The value of a pragma. */
  number(pragma: string): number {
    const statement = this.#pragmas.get(pragma) ?? this.#database.prepare(`PRAGMA ${pragma}`);
    this.#pragmas.set(pragma, statement);
    return Number(statement.get()?.[pragma]);
  }

  /** Keeps the file from growing. */
  fix(): void {
    this.#limitTo(this.number('page_count'));
  }

  /** Adds filler rows, for which the file may grow. Returns false if the disk has no room for them. */
  fill(rows: number): boolean {
    this.#limitTo(this.number('page_count') + Math.ceil((rows * FILLER * 1.1) / this.size));
    try {
      const filler = `WITH RECURSIVE at (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM at WHERE n < ${rows})
        INSERT INTO reserve SELECT zeroblob(${FILLER}) FROM at`;
      this.#database.exec(filler);
      return true;
    } catch (thrown) {
      if (!isFull(thrown)) throw thrown;
      return false;
    } finally {
      this.fix();
    }
  }

  /** The bytes of all filler rows. */
  filled(): number {
    return Number(this.#database.prepare('SELECT count(*) AS rows FROM reserve').get()?.rows) * FILLER;
  }

  /** Deletes filler rows: their pages stay in the file, free. */
  release(rows: number): void {
    this.#database.exec(
      `DELETE FROM reserve WHERE rowid IN (SELECT rowid FROM reserve ORDER BY rowid DESC LIMIT ${rows})`,
    );
  }

  /** Pages that cannot be written into the file stay in the log, so nothing is lost. */
  checkpoint(mode: 'PASSIVE' | 'RESTART'): void {
    try {
      this.#database.exec(`PRAGMA wal_checkpoint(${mode})`);
    } catch (thrown) {
      if (!isFull(thrown)) throw thrown;
    }
  }

  #limitTo(pages: number): void {
    if (pages === this.#most) return;
    this.#database.exec(`PRAGMA max_page_count = ${pages}`);
    this.#most = pages;
  }
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
