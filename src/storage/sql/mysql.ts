import type { Connection, RowDataPacket } from 'mysql2/promise';
import { PATIENCE } from '../patience.ts';
import { loadMysql } from './drivers.ts';
import { migrateTables, type SqlSchema } from './schema.ts';
import { prepared, type SqlDialect, type SqlFault, type SqlSession, type SqlStatement, sql } from './session.ts';

const TITLE = 'MariaDB or MySQL';

/**
 * What the store relies on, whatever the server defaults to. With READ COMMITTED, what was not found is not locked. A
 * gate that is gone must not hold its locks: its connection ends after a minute.
 */
const SETUP = [
  "SET SESSION sql_mode = 'STRICT_ALL_TABLES', autocommit = 1, innodb_lock_wait_timeout = 1, wait_timeout = 60",
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  'SELECT @@global.read_only AS standby, VERSION() AS version',
];

const LOCK = "LEFT(CONCAT('coursegate ', DATABASE()), 64)";
const SCHEMA: SqlSchema = {
  title: TITLE,
  known: sql(
    "SELECT COUNT(*) AS known FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 'coursegate_schema'",
  ),
  lock: [sql(`SELECT GET_LOCK(${LOCK}, 1) AS held`)],
  unlock: sql(`SELECT RELEASE_LOCK(${LOCK})`),
  migrations: ['mysql-1.sql'],
};

/**
 * Deadlocks, waits for a lock that took too long, keys that another transaction has inserted, and what MariaDB 11.6 and
 * later report where an older one waits: that a row has changed since the transaction read it.
 */
const AGAIN = new Set(['ER_LOCK_DEADLOCK', 'ER_LOCK_WAIT_TIMEOUT', 'ER_DUP_ENTRY', 'ER_CHECKREAD']);
const DEMOTED = new Set(['ER_OPTION_PREVENTS_STATEMENT', 'ER_READ_ONLY_MODE']);
const CROWDED = new Set(['ER_CON_COUNT_ERROR', 'ER_TOO_MANY_USER_CONNECTIONS', 'ER_USER_LIMIT_REACHED']);
const LOST = new Set(['ER_SERVER_SHUTDOWN', 'ER_CONNECTION_KILLED', 'ER_UNKNOWN_STMT_HANDLER', ...CROWDED]);

const codeOf = (thrown: unknown) => String((thrown as { readonly code?: unknown }).code);

function faultOf(thrown: unknown): SqlFault {
  // Only an error of the server has a SQLSTATE.
  const isOfServer = typeof (thrown as { readonly sqlState?: unknown }).sqlState === 'string';
  if (!isOfServer || LOST.has(codeOf(thrown))) return 'lost';
  if (DEMOTED.has(codeOf(thrown))) return 'demoted';
  return AGAIN.has(codeOf(thrown)) ? 'again' : 'failed';
}

/** MariaDB 10.6 and later, and MySQL 8 and later. */
export const mysql: SqlDialect = {
  title: TITLE,
  faultOf,
  isCrowded: (thrown) => CROWDED.has(codeOf(thrown)),
  migrate: (session) => migrateTables(session, SCHEMA),
  async connect(url) {
    const { createConnection } = await loadMysql();
    const connection = await createConnection({
      uri: url.replace(/^mariadb:/, 'mysql:'),
      connectTimeout: PATIENCE,
      supportBigNumbers: true,
      maxPreparedStatements: 200,
    });
    return prepared(sessionOn(connection), SETUP, 'ER_READ_ONLY_MODE', (version) => {
      const [, major = 0, minor = 0] = (/^(\d+)\.(\d+)/.exec(version) ?? []).map(Number);
      const isKnown = /mariadb/i.test(version) ? major * 100 + minor >= 1006 : major >= 8;
      return isKnown || 'MariaDB 10.6, MySQL 8';
    });
  },
  onConflict: () => 'ON DUPLICATE KEY UPDATE',
  given: (column) => `VALUES(${column})`,
  withIdentity: '',
  now: 'CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)',
  announce: sql('UPDATE coursegate_revocation SET number = number + 1 WHERE id = 1'),
  heartbeat: sql('SELECT number, @@global.read_only AS standby FROM coursegate_revocation WHERE id = 1'),
  judge: (use) =>
    use(async (session) => {
      const read = sql(
        'SELECT @@global.innodb_flush_log_at_trx_commit AS flush, @@global.log_bin AS logged, @@global.sync_binlog AS synced',
      );
      const [[row] = []] = await session.run(read);
      const warnings: string[] = [];
      if (Number(row?.flush) !== 1)
        warnings.push(`innodb_flush_log_at_trx_commit is ${row?.flush}: a crash can lose the last second of commits`);
      // A commit that the binary log does not have is rolled back when the server starts again.
      if (Number(row?.logged) === 1 && Number(row?.synced) !== 1)
        warnings.push(`sync_binlog is ${row?.synced}: a power failure can lose the last commits`);
      return warnings;
    }),
};

function sessionOn(connection: Connection): SqlSession {
  let open = true;
  // Without a listener, an error of an idle connection would end the process.
  connection.on('error', () => {
    open = false;
  });
  const one = async ({ text, values }: SqlStatement) => {
    const options = { sql: text, timeout: PATIENCE };
    // The protocol of prepared statements has no BEGIN.
    const [rows] =
      values.length === 0
        ? await connection.query<RowDataPacket[]>(options)
        : await connection.execute<RowDataPacket[]>(options, [...values]);
    return Array.isArray(rows) ? rows : [];
  };
  return {
    async run(...statements) {
      const answers = [];
      // One by one: what was sent would be done, even after a failure before it.
      for (const statement of statements) answers.push(await one(statement));
      return answers;
    },
    isOpen: () => open,
    close() {
      open = false;
      connection.destroy();
    },
  };
}
