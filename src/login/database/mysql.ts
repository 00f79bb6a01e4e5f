import type { Pool, PoolConnection } from 'mysql2/promise';
import { loadMysql } from '../../storage/sql/drivers.ts';
import { firstTwo, type Reader, type ReaderOptions } from './reader.ts';
import { QUOTED } from './settings.ts';

const NO_SUCH_LETTERS = new Set(['ER_CANT_AGGREGATE_2COLLATIONS', 'ER_CANT_AGGREGATE_NCOLLATIONS']);

/** Reads from MySQL and MariaDB. Each query is a prepared statement in a read-only transaction. */
export function mysqlReader({ url, query, timeout, connections }: ReaderOptions): Reader {
  const { sql, parameters } = numbered(firstTwo(query));
  let pool: Promise<Pool> | undefined;

  const open = async (): Promise<Pool> => {
    const { createPool } = await loadMysql();
    return createPool({
      uri: url.replace(/^mariadb:/, 'mysql:'),
      connectionLimit: connections,
      maxIdle: connections,
      idleTimeout: 30_000,
      queueLimit: 64,
      connectTimeout: timeout,
      multipleStatements: false,
      // Beyond 2^53, two ids could become the same number.
      supportBigNumbers: true,
      bigNumberStrings: true,
    });
  };

  return {
    async rows(login) {
      pool ??= open();
      const connection = await (await pool).getConnection();
      try {
        const rows = await ask(connection, sql, Array<string>(parameters).fill(login), timeout);
        connection.release();
        return rows;
      } catch (thrown) {
        // Closing the connection makes the server cancel the query.
        connection.destroy();
        // The login has characters that the column cannot store, so there is no such member.
        if (NO_SUCH_LETTERS.has((thrown as { code?: string }).code ?? '')) return [];
        throw thrown;
      }
    },

    async close() {
      await (await pool)?.end();
    },
  };
}

async function ask(connection: PoolConnection, sql: string, values: string[], timeout: number) {
  await limitTime(connection, timeout);
  await connection.query({ sql: 'START TRANSACTION READ ONLY', timeout });
  const [rows] = await connection.execute({ sql, timeout }, values);
  await connection.query({ sql: 'COMMIT', timeout });
  return rows as Record<string, unknown>[];
}

/** Sets the query timeout: in seconds on MariaDB, in milliseconds under another name on MySQL. */
async function limitTime(connection: PoolConnection, timeout: number): Promise<void> {
  try {
    await connection.query({ sql: `SET SESSION max_statement_time = ${timeout / 1000}`, timeout });
  } catch (thrown) {
    if ((thrown as { code?: string }).code !== 'ER_UNKNOWN_SYSTEM_VARIABLE') throw thrown;
    await connection.query({ sql: `SET SESSION max_execution_time = ${Math.ceil(timeout)}`, timeout });
  }
}

/** Replaces each $1 outside quotes by `?`, the only placeholder of MySQL. */
function numbered(query: string): { readonly sql: string; readonly parameters: number } {
  let parameters = 0;
  const sql = query.replaceAll(new RegExp(`${QUOTED.source}|\\$1`, 'g'), (found) => {
    if (found !== '$1') return found;
    parameters += 1;
    return '?';
  });
  return { sql, parameters };
}
