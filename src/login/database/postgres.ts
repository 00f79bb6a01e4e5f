import type { Pool, PoolClient } from 'pg';
import { loadPg } from '../../storage/sql/drivers.ts';
import { firstTwo, type Reader, type ReaderOptions } from './reader.ts';

/** Reads from PostgreSQL. Each query runs in its own read-only transaction with a statement timeout. */
export function postgresReader({ url, query, timeout, connections }: ReaderOptions): Reader {
  const text = firstTwo(query);
  let pool: Promise<Pool> | undefined;

  const open = async (): Promise<Pool> => {
    const { default: pg } = await loadPg();
    const opened = new pg.Pool({
      connectionString: url,
      max: connections,
      connectionTimeoutMillis: timeout,
      query_timeout: timeout,
      idleTimeoutMillis: 30_000,
      allowExitOnIdle: true,
      application_name: 'coursegate',
    });
    // An idle connection was lost: the next query opens another one.
    opened.on('error', () => undefined);
    // A connection lost during a query: the query fails too, but an unhandled error event would end the process.
    opened.on('connect', (client) => client.on('error', () => undefined));
    return opened;
  };

  return {
    async rows(login) {
      pool ??= open();
      const client = await (await pool).connect();
      let complete = false;
      try {
        const { rows } = await ask(client, text, login, timeout);
        complete = true;
        return rows;
      } finally {
        // Discard the connection unless its transaction ended properly.
        client.release(!complete);
      }
    },

    async close() {
      await (await pool)?.end();
    },
  };
}

async function ask(client: PoolClient, text: string, login: string, timeout: number) {
  await client.query('BEGIN TRANSACTION READ ONLY');
  await client.query(`SET LOCAL statement_timeout = ${Math.ceil(timeout)}`);
  const answer = await client.query<Record<string, unknown>>(text, [login]);
  await client.query('COMMIT');
  return answer;
}
