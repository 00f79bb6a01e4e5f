import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sqlDatabase } from '../../../src/storage/sql/database.ts';
import { mysql } from '../../../src/storage/sql/mysql.ts';
import { postgres } from '../../../src/storage/sql/postgres.ts';
import { type SqlDialect, sql } from '../../../src/storage/sql/session.ts';
import { MARIADBD, MYSQLD, startMariaDb } from '../../support/mariadb.ts';
import { missing } from '../../support/missing.ts';
import { postgresPresent, startPostgres } from '../../support/postgres.ts';

/** A database server for the tests of the store, whatever its kind. */
export interface TestServer {
  readonly kind: 'postgres' | 'mysql';
  readonly dialect: SqlDialect;
  /** Where it listens, for a proxy. */
  readonly path: string;
  /** Creates a database, and returns its URL; through a proxy on this port, if one is given. */
  database(name: string, port?: number): Promise<string>;
  /** Runs a statement as the owner. */
  run(url: string, ...texts: readonly string[]): Promise<void>;
  /** Creates a user with the rights that docs/stores.md asks for after the tables are there. */
  grantTables(user: string, url: string, connections?: number): Promise<void>;
  /** Ends the connections of a user. Returns how many there were. */
  disconnect(user: string): Promise<number>;
  /** Makes the server refuse writes, as one that has become a replica, and undoes it. */
  demote(url: string): Promise<void>;
  promote(url: string): Promise<void>;
  kill(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

const TABLES = ['entry', 'charge', 'quota', 'counter'];

/** Empties the tables of a store. */
export async function emptied({ run }: TestServer, url: string): Promise<void> {
  await run(url, ...TABLES.map((name) => `DELETE FROM coursegate_${name}`));
}

/** Waits until a store's tables are there. On a busy machine, the first connection may take longer than a request may. */
export async function ready({ kind }: Pick<TestServer, 'kind'>, url: string): Promise<void> {
  const dialect = { postgres, mysql }[kind];
  for (let tries = 1; ; tries += 1) {
    const database = sqlDatabase(dialect, url, 1);
    try {
      return void (await database.use((session) => session.run(dialect.heartbeat)));
    } catch (thrown) {
      if (tries === 20) throw thrown;
    } finally {
      database.close();
    }
  }
}

/** @param durable for benches, which wait for the disk as in production */
export async function postgresServer(durable = false): Promise<TestServer> {
  const server = await startPostgres(durable);
  const urlOf = (name: string, port?: number) =>
    port === undefined
      ? `postgres://postgres@${encodeURIComponent(server.socket)}/${name}`
      : `postgres://postgres@127.0.0.1:${port}/${name}`;
  return {
    kind: 'postgres',
    dialect: postgres,
    path: `${server.socket}/.s.PGSQL.5432`,
    async database(name, port) {
      if (server.run(`SELECT 1 FROM pg_database WHERE datname = '${name}'`) === '')
        server.run(`CREATE DATABASE ${name}`);
      return urlOf(name, port);
    },
    run: (url, ...texts) => runAll(postgres, url, texts),
    grantTables: (user, url, connections = -1) =>
      runAll(postgres, url, [
        `CREATE ROLE ${user} LOGIN CONNECTION LIMIT ${connections}`,
        `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${user}`,
      ]),
    async disconnect(user) {
      const ended = server.run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${user}'`);
      return ended === '' ? 0 : ended.split('\n').length;
    },
    async demote() {
      await server.kill();
      writeFileSync(join(server.data, 'standby.signal'), '');
      await server.start();
    },
    async promote() {
      await server.kill();
      rmSync(join(server.data, 'standby.signal'));
      await server.start();
    },
    kill: () => server.kill(),
    start: () => server.start(),
    close: () => server.close(),
  };
}

export async function mysqlServer(durable = false, program = MARIADBD): Promise<TestServer> {
  const server = await startMariaDb(durable, [], program);
  const urlOf = (name: string, port?: number) =>
    port === undefined
      ? `mysql://root@localhost/${name}?socketPath=${encodeURIComponent(server.socket)}`
      : `mysql://root@127.0.0.1:${port}/${name}`;
  return {
    kind: 'mysql',
    dialect: mysql,
    path: server.socket,
    async database(name, port) {
      await runAll(mysql, urlOf('mysql'), [`CREATE DATABASE IF NOT EXISTS ${name}`]);
      return urlOf(name, port);
    },
    run: (url, ...texts) => runAll(mysql, url, texts),
    grantTables: (user, url, connections = 0) =>
      runAll(mysql, url, [
        `CREATE USER ${user}@localhost WITH MAX_USER_CONNECTIONS ${connections}`,
        `GRANT SELECT, INSERT, UPDATE, DELETE ON ${new URL(url).pathname.slice(1)}.* TO ${user}@localhost`,
      ]),
    async disconnect(user) {
      const sessions = (await server.ask('SHOW PROCESSLIST')).filter(({ User }) => User === user);
      // One that has ended in the meantime is unknown.
      for (const { Id } of sessions) await server.ask(`KILL ${Id}`).catch(() => {});
      return sessions.length;
    },
    demote: () => runAll(mysql, urlOf('mysql'), ['SET GLOBAL read_only = 1']),
    async promote() {
      // A server that accepts no writes is refused by our own connections.
      await server.ask('SET GLOBAL read_only = 0');
    },
    kill: () => server.kill(),
    start: () => server.start(),
    close: () => server.close(),
  };
}

async function runAll(dialect: SqlDialect, url: string, texts: readonly string[]): Promise<void> {
  const session = await dialect.connect(url);
  for (const text of texts) await session.run(sql(text));
  session.close();
}

if (MARIADBD === undefined)
  missing('no MariaDB found: tests of the mysql store need it (apt-get install mariadb-server)');
if (MYSQLD === undefined)
  missing('no MySQL named: tests of the mysql store need the path of its mysqld in COURSEGATE_TEST_MYSQLD', true);

/** The servers of the mysql store that this machine has. */
export const MYSQL_SERVERS = [
  { name: 'MariaDB', program: MARIADBD },
  { name: 'MySQL', program: MYSQLD },
].filter(({ program }) => program !== undefined);

/** The servers that this machine has. Without one its tests are skipped, and the end of the run names what to install. */
export const SERVERS: readonly { readonly name: string; readonly start: () => Promise<TestServer> }[] = [
  ...(postgresPresent() ? [{ name: 'PostgreSQL', start: () => postgresServer() }] : []),
  ...MYSQL_SERVERS.map(({ name, program }) => ({ name, start: () => mysqlServer(false, program) })),
];
