/** A row as returned by the database. */
export type DatabaseRow = Readonly<Record<string, unknown>>;

/** Read-only access to the database of the members. */
export interface Reader {
  /** The rows for a login, at most two. Rejects with the error of the driver. */
  rows(login: string): Promise<readonly DatabaseRow[]>;
  /** Closes the connections once their queries are done. */
  close(): Promise<void>;
}

export interface ReaderOptions {
  readonly url: string;
  /** With $1 where the login goes. */
  readonly query: string;
  /** Milliseconds. */
  readonly timeout: number;
  readonly connections: number;
}

/** Limits a query to two rows: one more than allowed is enough to detect that the query is wrong. */
export function firstTwo(query: string): string {
  return `SELECT * FROM (${query}\n) AS member LIMIT 2`;
}
