import type { Pool, PoolClient } from 'pg';
import { driver, firstTwo, type Reader, type ReaderOptions } from './reader.ts';

/** Throws MissingDriver. */
export const loadPg = () => driver('pg', () => import('pg'));

/** PostgreSQL, each question in a transaction of its own that may only read, and ends by itself when it takes too long. */
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
    // A connection that ends while nobody uses it: the next question makes another.
    opened.on('error', () => undefined);
    // One that ends while it is used is heard of by its question too; unheard here, it would end the gate.
    opened.on('connect', (client) => client.on('error', () => undefined));
    return opened;
  };

  return {
    async rows(login) {
      pool ??= open();
      const client = await (await pool).connect();
      let whole = false;
      try {
        const { rows } = await ask(client, text, login, timeout);
        whole = true;
        return rows;
      } finally {
        // What was not ended in order is not used again.
        client.release(!whole);
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
