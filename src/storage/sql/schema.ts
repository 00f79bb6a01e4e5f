import { codePath, readInstalled } from '../../installation.ts';
import { StoreOpenError } from '../open-failure.ts';
import { type SqlSession, type SqlStatement, sql } from './session.ts';

/** How one kind of database creates the tables. */
export interface SqlSchema {
  readonly title: string;
  /** Its row has `known`: whether there is a table `coursegate_schema`. */
  readonly known: SqlStatement;
  /** Waits for the lock that all gates respect. The last row has `held`: 1 once it is held. */
  readonly lock: readonly SqlStatement[];
  readonly unlock: SqlStatement;
  /**
   * Files beside this one. Each upgrades the tables from version n to n + 1, beginning with none. Never edit a released
   * one: tables made by it exist. A statement ends with a semicolon at the end of a line.
   */
  readonly migrations: readonly string[];
}

/**
 * Creates the tables, or upgrades them. The user needs the right to do so only then. The lock ends with the connection.
 * Throws StoreOpenError if a newer version wrote them, and the driver's error.
 */
export async function migrateTables(session: SqlSession, schema: SqlSchema): Promise<void> {
  const latest = schema.migrations.length;
  const version = async (): Promise<number> => {
    const [rows] = await session.run(schema.known);
    if (!Number(rows?.[0]?.known)) return 0;
    const [versions] = await session.run(sql('SELECT version FROM coursegate_schema'));
    return Number(versions?.[0]?.version ?? 0);
  };
  const found = await version();
  if (found > latest)
    throw new StoreOpenError('newer', `in ${schema.title}`, `schema ${found}, this one knows ${latest}`);
  if (found === latest) return;
  const [row] = (await session.run(...schema.lock)).at(-1) ?? [];
  if (Number(row?.held) !== 1) throw new Error('another gate took too long to create the tables');
  for (const migration of schema.migrations.slice(await version())) {
    const text = readInstalled(codePath(`storage/sql/${migration}`)).toString();
    for (const statement of text.trim().split(/;\n/)) await session.run(sql(statement));
  }
  await session.run(
    sql('DELETE FROM coursegate_schema'),
    sql(`INSERT INTO coursegate_schema (version) VALUES (${latest})`),
    schema.unlock,
  );
}
