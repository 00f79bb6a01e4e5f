import type { Client, Submittable } from 'pg';
import { PATIENCE } from '../patience.ts';
import { loadPg } from './drivers.ts';
import { migrateTables, type SqlSchema } from './schema.ts';
import {
  prepared,
  type SqlDialect,
  type SqlFault,
  type SqlRow,
  type SqlSession,
  type SqlStatement,
  sql,
} from './session.ts';

const TITLE = 'PostgreSQL';
const CHANNEL = 'coursegate_revoked';

/**
 * What the store relies on, whatever the server or the role defaults to. A session that hangs within a transaction
 * must not hold its locks. With statistics of an empty table, the planner would read all of it.
 */
const SETUP = [
  'SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED',
  `SET statement_timeout = ${PATIENCE}`,
  `SET lock_timeout = ${PATIENCE}`,
  `SET idle_in_transaction_session_timeout = ${5 * PATIENCE}`,
  'SET enable_seqscan = off',
  'SET plan_cache_mode = force_generic_plan',
  'SET jit = off',
  // Of a sealed payload this is the payload itself, and half as long as the default.
  'SET bytea_output = escape',
  "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
  "SELECT pg_is_in_recovery()::int AS standby, current_setting('server_version') AS version",
];

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
      keepAlive: true,
      query_timeout: PATIENCE,
    });
    const session = sessionOn(client);
    await client.connect().catch((thrown) => {
      session.close();
      throw thrown;
    });
    await prepared(session, SETUP, '25006', (version) => Number.parseInt(version, 10) >= 13 || 'PostgreSQL 13');
    if (notified !== undefined) {
      client.on('notification', notified);
      await session.run(sql(`LISTEN ${CHANNEL}`));
    }
    return session;
  },
  onConflict: (key) => `ON CONFLICT (${key}) DO UPDATE SET`,
  given: (column) => `excluded.${column}`,
  withIdentity: 'OVERRIDING SYSTEM VALUE',
  now: '(extract(epoch FROM clock_timestamp()) * 1000)::bigint',
  announce: sql(`SELECT pg_notify('${CHANNEL}', '')`),
  heartbeat: sql('SELECT 1 AS number'),
  judge: (use) =>
    use(async (session) => {
      const read = sql(
        "SELECT name, setting, pg_backend_pid() AS pid FROM pg_settings WHERE name IN ('fsync', 'full_page_writes')",
      );
      const [rows = []] = await session.run(read);
      const [[other] = []] = await use((one) => one.run(sql('SELECT pg_backend_pid() AS pid')));
      if (rows[0]?.pid === other?.pid)
        throw new Error('a pooler lets connections share a session: set its pool_mode to session');
      return rows
        .filter(({ setting }) => setting === 'off')
        .map(({ name }) => `${TITLE} runs with ${name} = off: a crash can lose or damage all data`);
    }),
};

function sessionOn(client: Client): SqlSession {
  const columns: Columns = new Map();
  let open = true;
  const lost = () => {
    open = false;
  };
  // Without a listener, an error of an idle connection would end the process.
  client.on('error', lost).on('end', lost);
  return {
    run: (...statements) =>
      new Promise((resolve, reject) => {
        client.query(batch(statements, columns, (thrown, rows = []) => (thrown ? reject(thrown) : resolve(rows))));
      }),
    isOpen: () => open,
    close() {
      open = false;
      client.end().catch(() => {});
    },
  };
}

/** The columns of the statements that a connection has prepared, by the text of the statement. */
type Columns = Map<string, Fields>;
type Fields = readonly { readonly name: string; readonly dataTypeID: number }[];

/**
 * Statements that are sent at once. The server runs them in order, and none after one that failed. It prepares each once
 * for a connection. Queries of pg's own cost much more: each is written, described, answered and timed by itself.
 * @param callback pg wraps it, to end the time limit of the batch
 */
function batch(
  statements: readonly SqlStatement[],
  columns: Columns,
  callback: (thrown?: Error, rows?: readonly (readonly SqlRow[])[]) => void,
) {
  const answers: SqlRow[][] = [[]];
  const current = () => statements[answers.length - 1]?.text ?? '';
  return {
    callback,
    submit(connection: Parameters<Submittable['submit']>[0]) {
      connection.stream.cork();
      for (const { text, values } of statements) {
        const name = nameOf(text);
        if (!columns.has(text)) {
          // It may be there, if what was sent with it failed.
          connection.close({ type: 'S', name }, true);
          connection.parse({ name, text: numbered(text), types: [] }, true);
          connection.describe({ type: 'S', name }, true);
        }
        const bound = values.map((value) => (typeof value === 'number' ? String(value) : value));
        connection.bind({ statement: name, values: bound }, true);
        connection.execute(null, true);
      }
      connection.sync();
      connection.stream.uncork();
    },
    // pg calls the others for what the server answers.
    handleRowDescription({ fields }: { readonly fields: Fields }) {
      columns.set(current(), fields);
    },
    handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }) {
      const row: Record<string, string | null> = {};
      for (const [at, { name, dataTypeID }] of (columns.get(current()) ?? []).entries()) {
        const value = fields[at] ?? null;
        row[name] = dataTypeID === BYTEA && value?.includes('\\') ? unescaped(value) : value;
      }
      answers.at(-1)?.push(row);
    },
    handleCommandComplete() {
      columns.set(current(), columns.get(current()) ?? []);
      answers.push([]);
    },
    handleReadyForQuery() {
      this.callback(undefined, answers.slice(0, -1));
    },
    handleError(thrown: Error) {
      this.callback(thrown);
    },
  };
}

const BYTEA = 17;

/** Reads the output format "escape" of bytea. */
function unescaped(text: string): string {
  const bytes = text.replace(/\\(\\|\d{3})/g, (_, code) =>
    code === '\\' ? code : String.fromCharCode(Number.parseInt(code, 8)),
  );
  return Buffer.from(bytes, 'latin1').toString();
}

const names = new Map<string, string>();

/** The name of a prepared statement. It begins with its command, which shows in traces. */
function nameOf(text: string): string {
  const name = names.get(text) ?? `${/^\w+/.exec(text)}_${names.size}`;
  names.set(text, name);
  return name;
}

/** The statement with PostgreSQL's placeholders. */
function numbered(text: string): string {
  const [first = '', ...rest] = text.split('?');
  return rest.reduce((made, part, at) => `${made}$${at + 1}${part}`, first);
}
