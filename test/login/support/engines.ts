import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createConnection } from 'mysql2/promise';
import { MARIADBD, startMariaDb } from '../../support/mariadb.ts';
import { POSTGRES, startPostgres } from '../../support/postgres.ts';

/** A member database of one kind. */
export interface Engine {
  readonly url: string;
  run(sql: string): Promise<void>;
  /** The number of rows that a query returns. */
  count(query: string): Promise<number>;
  /** The number of running queries that contain this text. */
  busy(part: string): Promise<number>;
  /** The number of other connections. */
  connections(): Promise<number>;
  kill(): Promise<void>;
  close(): Promise<void>;
}

export interface EngineKind {
  readonly name: string;
  /** The Debian package that is not installed on this machine. */
  readonly lacking: string | undefined;
  /** A condition that is true and slow to evaluate. */
  readonly slow: string;
  /** A function that writes; undefined where the database has no functions. */
  readonly writing: { readonly make: string; readonly condition: string } | undefined;
  start(): Promise<Engine>;
}

const NOTES = 'create table notes (note varchar(100))';

const postgres: EngineKind = {
  name: 'PostgreSQL',
  lacking: POSTGRES === undefined ? 'postgresql' : undefined,
  slow: '(select 1 from pg_sleep(60)) = 1',
  writing: {
    make: `${NOTES}; create function note(text) returns int language sql as 'insert into notes values ($1) returning 1'`,
    condition: "note('x') = 1",
  },
  async start() {
    const server = await startPostgres();
    return {
      url: `postgres://postgres@localhost/postgres?host=${encodeURIComponent(server.socket)}`,
      run: async (sql) => void server.run(sql),
      count: async (query) => Number(server.run(`select count(*) from (${query}) as q`)),
      busy: async (part) =>
        Number(
          server.run(
            `select count(*) from pg_stat_activity where state = 'active' and query like '%${part}%' and pid <> pg_backend_pid()`,
          ),
        ),
      connections: async () =>
        Number(
          server.run(
            "select count(*) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()",
          ),
        ),
      kill: server.kill,
      close: server.close,
    };
  },
};

const mariadb: EngineKind = {
  name: 'MariaDB',
  lacking: MARIADBD === undefined ? 'mariadb-server' : undefined,
  slow: 'sleep(60) = 0',
  writing: {
    make: `${NOTES}; create function note(said varchar(100)) returns int begin insert into notes values (said); return 1; end`,
    condition: "note('x') = 1",
  },
  async start() {
    const server = await startMariaDb();
    const connect = (database?: string) =>
      createConnection({ socketPath: server.socket, user: 'root', ...(database === undefined ? {} : { database }) });
    const run = async (sql: string, database: string | undefined = 'school') => {
      const connection = await connect(database);
      try {
        // The body of a function contains `;`.
        const [head = '', ...rest] = sql.split('; create function');
        await connection.query(head);
        for (const one of rest) await connection.query(`create function${one}`);
      } finally {
        await connection.end();
      }
    };
    const number = async (sql: string): Promise<number> => {
      const connection = await connect('school');
      try {
        const [rows] = await connection.query(sql);
        return Number((rows as { n: number }[])[0]?.n);
      } finally {
        await connection.end();
      }
    };
    const bare = await connect();
    await bare.query('create database school');
    await bare.end();
    return {
      url: `mysql://root@localhost/school?socketPath=${encodeURIComponent(server.socket)}`,
      run,
      count: (query) => number(`select count(*) as n from (${query}) as q`),
      busy: (part) =>
        number(
          `select count(*) as n from information_schema.processlist where info like '%${part}%' and id <> connection_id()`,
        ),
      connections: () =>
        number(
          "select count(*) as n from information_schema.processlist where user = 'root' and id <> connection_id()",
        ),
      kill: server.close,
      close: server.close,
    };
  },
};

const sqlite: EngineKind = {
  name: 'SQLite',
  lacking: undefined,
  // A few seconds and no more, because SQLite cannot interrupt it.
  slow: '(with recursive c(x) as (select 1 union all select x + 1 from c limit 15000000) select count(*) from c) > 0',
  writing: undefined,
  async start() {
    const folder = mkdtempSync(join(tmpdir(), 'coursegate-members-'));
    const path = join(folder, 'members.db');
    const using = <T>(work: (database: DatabaseSync) => T): T => {
      const database = new DatabaseSync(path);
      try {
        return work(database);
      } finally {
        database.close();
      }
    };
    const close = async () => rmSync(folder, { recursive: true, force: true });
    return {
      url: `sqlite:${path}`,
      run: async (sql) => using((database) => database.exec(sql)),
      count: async (query) =>
        using((database) => Number(database.prepare(`select count(*) as n from (${query})`).get()?.n)),
      busy: async () => 0,
      connections: async () => 0,
      kill: close,
      close,
    };
  },
};

export const ENGINES: readonly EngineKind[] = [postgres, mariadb, sqlite];
