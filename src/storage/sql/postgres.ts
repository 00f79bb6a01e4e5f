import type { Client, QueryResult } from 'pg';
import { PATIENCE } from '../patience.ts';
import { loadPg } from './drivers.ts';
import { migrateTables, type SqlSchema } from './schema.ts';
import { type SqlDialect, type SqlFault, type SqlSession, type SqlStatement, sql } from './session.ts';

const OLDEST = 13;
const TITLE = 'PostgreSQL';
const CHANNEL = 'coursegate_revoked';

/**
 * What the store relies on, whatever the server or the role defaults to. A session that hangs within a transaction
 * must not hold its locks. With statistics of an empty table, the planner would read all of it.
 */
const SETUP = `
  SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;
  SET statement_timeout = ${PATIENCE};
  SET lock_timeout = ${PATIENCE};
  SET idle_in_transaction_session_timeout = ${5 * PATIENCE};
  SET enable_seqscan = off;
  SET plan_cache_mode = force_generic_plan;
  SET jit = off;
  SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
  SELECT pg_is_in_recovery() AS standby, current_setting('server_version_num')::int / 10000 AS version`;

const SCHEMA: SqlSchema = {
  title: TITLE,
  // Not to_regclass: a name that was absent before the lock is looked up in a cache.
  known: sql(
    "SELECT COUNT(*) AS known FROM pg_tables WHERE tablename = 'coursegate_schema' AND schemaname = ANY (current_schemas(false))",
  ),
  // "cgat"
  lock: [sql('BEGIN'), sql(`SELECT 1 AS held FROM pg_advisory_xact_lock(${0x63676174})`)],
  unlock: sql('COMMIT'),
  migrations: ['postgres-1.sql'],
};

/** By SQLSTATE: serialization failure, deadlock, unique violation, lock timeout. */
const AGAIN = new Set(['40001', '40P01', '23505', '55P03']);
/** Connection exceptions, shutdowns, and a prepared statement that the server does not have. */
const LOST = /^(08...|57P0[123]|26000)$/;

function faultOf(thrown: unknown): SqlFault {
  const { code } = thrown as { readonly code?: unknown };
  if (typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code) || LOST.test(code)) return 'lost';
  if (code === '25006') return 'demoted';
  return AGAIN.has(code) ? 'again' : 'failed';
}

/** PostgreSQL 13 and later. */
export const postgres: SqlDialect = {
  title: TITLE,
  faultOf,
  isCrowded: (thrown) => (thrown as { readonly code?: unknown }).code === '53300',
  migrate: (session) => migrateTables(session, SCHEMA),
  async connect(url, notified) {
    const { default: pg } = await loadPg();
    const client = new pg.Client({
      connectionString: url,
      application_name: 'coursegate',
      connectionTimeoutMillis: PATIENCE,
      query_timeout: PATIENCE,
      keepAlive: true,
      pipeline: true,
    });
    const session = sessionOn(client);
    try {
      await client.connect();
      const answers = (await client.query(SETUP)) as unknown as readonly QueryResult[];
      const { standby, version } = answers.at(-1)?.rows[0] ?? {};
      if (version < OLDEST) throw new Error(`it is ${TITLE} ${version}: ${OLDEST} or later is needed`);
      if (standby) throw Object.assign(new Error('it is a replica, which accepts no writes'), { code: '25006' });
      if (notified !== undefined) {
        client.on('notification', notified);
        await client.query(`LISTEN ${CHANNEL}`);
      }
      return session;
    } catch (thrown) {
      session.close();
      throw thrown;
    }
  },
  upsert(key, set) {
    const pairs = Object.entries(set).map(([column, value]) => `${column} = ${value}`);
    return `ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${pairs.join(', ')}`;
  },
  given: (column) => `excluded.${column}`,
  now: '(extract(epoch FROM clock_timestamp()) * 1000)::bigint',
  announce: sql(`SELECT pg_notify('${CHANNEL}', '')`),
  heartbeat: sql('SELECT 1 AS number'),
  async judge(session) {
    const read = sql("SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes')");
    const [rows = []] = await session.run(read);
    return rows
      .filter(({ setting }) => setting === 'off')
      .map(({ name }) => `${TITLE} runs with ${name} = off: a crash can lose or damage all data`);
  },
};

function sessionOn(client: Client): SqlSession {
  let open = true;
  const lost = () => {
    open = false;
  };
  // Without a listener, an error of an idle connection would end the process.
  client.on('error', lost).on('end', lost);
  return {
    async run(...statements) {
      // Sent at once: the server runs them in order, and refuses the rest of a transaction after a failure.
      const answers = await Promise.allSettled(statements.map((one) => client.query(queryOf(one))));
      return answers.map((answer, at) => {
        if (answer.status === 'rejected') throw answer.reason;
        // The server answers a COMMIT of a failed transaction by a ROLLBACK.
        if (statements[at]?.text === 'COMMIT' && answer.value.command !== 'COMMIT') throw new Error('rolled back');
        return answer.value.rows ?? [];
      });
    },
    isOpen: () => open,
    close() {
      open = false;
      client.end().catch(() => {});
    },
  };
}

/** Statements with more values than this are not kept by the server: there are too many of different lengths. */
const KEPT = 200;
const names = new Map<string, { readonly name: string; readonly text: string }>();

/** The statement with PostgreSQL's placeholders. Those with few values are parsed once for a connection. */
function queryOf({ text, values }: SqlStatement) {
  if (values.length === 0) return text;
  const known = names.get(text);
  if (known !== undefined) return { ...known, values: [...values] };
  const [first = '', ...rest] = text.split('?');
  const numbered = rest.reduce((made, part, at) => `${made}$${at + 1}${part}`, first);
  if (values.length > KEPT) return { text: numbered, values: [...values] };
  const made = { name: `coursegate_${names.size}`, text: numbered };
  names.set(text, made);
  return { ...made, values: [...values] };
}
