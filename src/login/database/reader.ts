/** A row as the database gave it. */
export type Row = Readonly<Record<string, unknown>>;

/** The database of the members, read only. */
export interface Reader {
  /** Out: the rows for a login, of several the first two. Rejects with whatever kept them from being had. */
  rows(login: string): Promise<readonly Row[]>;
  /** Ends its connections, once those that are used are free. */
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

/** One row more than there may be: enough to see that the query is mistaken, however many there are. */
export function firstTwo(query: string): string {
  return `SELECT * FROM (${query}\n) AS member LIMIT 2`;
}

/** Says which package to install. */
export class MissingDriver extends Error {}

/** A driver that is not part of coursegate: whoever has such a database installs it. Throws MissingDriver. */
export async function driver<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (thrown) {
    throw new MissingDriver(`needs the package ${name} beside coursegate: npm install ${name}`, { cause: thrown });
  }
}
