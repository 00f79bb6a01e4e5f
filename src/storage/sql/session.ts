/** One statement, with `?` for each value. */
export interface SqlStatement {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

export type SqlValue = string | number | Buffer | null;

export type SqlRow = Readonly<Record<string, unknown>>;

/** A connection to the database, on which statements run one after another. */
export interface SqlSession {
  /**
   * Runs statements in order, and rejects with the driver's error for the first that fails. Returns the rows of each.
   * Within a transaction, what comes after a failed statement, even a COMMIT, has no effect.
   */
  run(...statements: readonly SqlStatement[]): Promise<readonly (readonly SqlRow[])[]>;
  /** False once the connection was lost or closed. */
  readonly isOpen: () => boolean;
  /** Closes it at once. The server rolls back a transaction that has not ended. */
  close(): void;
}

/** Runs work on a connection of its own. */
export type UseSession = <T>(work: (session: SqlSession) => Promise<T>) => Promise<T>;

/**
 * What a failed statement means. `again`: the server rolled back, and the same work may succeed now (a deadlock, a
 * serialization failure, a key that another transaction has inserted). `demoted`: the server accepts no writes. `lost`:
 * the connection is not usable, and what it was last sent may have been done. `failed`: anything else.
 */
export type SqlFault = 'again' | 'demoted' | 'lost' | 'failed';

/** What the implementation asks of one kind of database: how to connect, and the SQL that differs. */
export interface SqlDialect {
  /** For messages. */
  readonly title: string;
  /**
   * Opens a connection to a server that accepts writes, with the settings that the store relies on. Rejects with
   * the driver's error, MissingDriver, or an Error for operators. `notified` is called for each announced revocation,
   * where the database can deliver it.
   */
  connect(url: string, notified?: () => void): Promise<SqlSession>;
  faultOf(thrown: unknown): SqlFault;
  /** Whether the server refused a connection because it has too many. */
  isCrowded(thrown: unknown): boolean;
  /** Creates or upgrades the tables under a lock that all gates respect. Throws if it may not or cannot. */
  migrate(session: SqlSession): Promise<void>;
  /** Before the assignments of an INSERT that writes to the row with the same key instead. */
  onConflict(key: string): string;
  /** The value that an upsert would have inserted. */
  given(column: string): string;
  /** In an INSERT, after its columns: it gives a value to a column that numbers rows by itself. */
  readonly withIdentity: string;
  readonly now: string;
  readonly announce: SqlStatement;
  /**
   * Where the database cannot notify, the `number` of its row changes with each revocation, and `standby` is not 0 once
   * the server accepts no writes.
   */
  readonly heartbeat: SqlStatement;
  /** Warnings for the operator about the server's durability. Throws Error if connections do not keep their session. */
  judge(use: UseSession): Promise<readonly string[]>;
}

/** A statement; `?` stands for each value. */
export function sql(text: string, ...values: readonly SqlValue[]): SqlStatement {
  return { text, values };
}

/** The end of an INSERT that writes these columns to the row with the same key instead. */
export function upsert({ onConflict }: SqlDialect, key: string, set: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(set).map(([column, value]) => `${column} = ${value}`);
  return `${onConflict(key)} ${pairs.join(', ')}`;
}

/**
 * Runs what a new connection needs, and returns the connection unless the server is too old or accepts no writes.
 * @param setup the row of the last one has `version` and `standby`
 * @param replica the code of the server's own error for a write to a replica
 * @param isKnown returns true, or the name of the oldest version that is known
 */
export async function prepared(
  session: SqlSession,
  setup: readonly string[],
  replica: string,
  isKnown: (version: string) => true | string,
): Promise<SqlSession> {
  try {
    const [{ standby, version } = {}] = (await session.run(...setup.map((text) => sql(text)))).at(-1) ?? [];
    const known = isKnown(String(version));
    if (known !== true) throw new Error(`it is version ${version}: ${known} or later is needed`);
    if (Number(standby) === 0) return session;
    throw Object.assign(new Error('it is a replica, which accepts no writes'), { code: replica });
  } catch (thrown) {
    session.close();
    throw thrown;
  }
}
