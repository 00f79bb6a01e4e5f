import { vi } from 'vitest';
import { type ChaosProxy, startChaosProxy } from '../../support/chaos-proxy.ts';
import { MARIADBD, type MariaDb, MYSQLD, startMariaDb } from '../../support/mariadb.ts';
import { POSTGRES, startPostgres } from '../../support/postgres.ts';

/** A primary and a replica, which has each write before it is acknowledged. */
export interface Pair {
  readonly kind: 'postgres' | 'mysql';
  /** Where each listens, for a proxy. */
  readonly primary: string;
  readonly replica: string;
  /** Between the two. */
  readonly link: ChaosProxy;
  /** The URL of the database behind a proxy on this port. */
  url(port: number): string;
  /** Kills the primary, as a crash would. */
  kill(): Promise<void>;
  /** Makes the replica the primary, with all that it has received. */
  promote(): Promise<void>;
  close(): Promise<void>;
}

async function postgresPair(): Promise<Pair> {
  const primary = await startPostgres();
  const path = `${primary.socket}/.s.PGSQL.5432`;
  const link = await startChaosProxy({ path });
  const replica = await primary.replica();
  replica.run(`ALTER SYSTEM SET primary_conninfo = 'host=127.0.0.1 port=${link.port} user=postgres'`);
  replica.run('SELECT pg_reload_conf()');
  primary.run("ALTER SYSTEM SET synchronous_standby_names = '*'");
  primary.run('SELECT pg_reload_conf()');
  const state = () => primary.run('SELECT sync_state FROM pg_stat_replication WHERE client_addr IS NULL');
  await until(() => link.connections() > 0 && state() === 'sync');
  return {
    ...{ kind: 'postgres', primary: path, replica: `${replica.socket}/.s.PGSQL.5432`, link },
    url: (port) => `postgres://postgres@127.0.0.1:${port}/postgres`,
    kill: () => primary.kill(),
    promote: async () => void replica.run('SELECT pg_promote()'),
    async close() {
      await link.close();
      await replica.close();
      await primary.close();
    },
  };
}

/** What MariaDB and MySQL call the same. */
interface Names {
  /** In the names of settings. */
  readonly source: string;
  readonly replica: string;
  readonly settings: readonly string[];
  readonly both: readonly string[];
  connect(port: number): readonly string[];
  readonly start: string;
  readonly stopReceiving: string;
  readonly end: readonly string[];
  readonly status: string;
  /** Whether all that was received is applied. */
  isApplied(status: Readonly<Record<string, unknown>>): boolean;
}

const MARIADB: Names = {
  source: 'master',
  replica: 'slave',
  settings: [],
  both: [],
  connect: (port) => [
    `CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = ${port}, MASTER_USER = 'root', MASTER_USE_GTID = slave_pos`,
  ],
  start: 'START SLAVE',
  stopReceiving: 'STOP SLAVE IO_THREAD',
  end: ['STOP SLAVE', 'RESET SLAVE ALL'],
  status: 'SHOW SLAVE STATUS',
  isApplied: (status) =>
    status.Master_Log_File === status.Relay_Master_Log_File &&
    status.Read_Master_Log_Pos === status.Exec_Master_Log_Pos,
};

const MYSQL: Names = {
  source: 'source',
  replica: 'replica',
  settings: ['--gtid-mode=ON', '--enforce-gtid-consistency=ON'],
  both: [
    "INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'",
    "INSTALL PLUGIN rpl_semi_sync_replica SONAME 'semisync_replica.so'",
  ],
  connect: (port) => [
    `CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = ${port}, SOURCE_USER = 'root', SOURCE_AUTO_POSITION = 1`,
  ],
  start: 'START REPLICA',
  stopReceiving: 'STOP REPLICA IO_THREAD',
  end: ['STOP REPLICA', 'RESET REPLICA ALL'],
  status: 'SHOW REPLICA STATUS',
  isApplied: (status) =>
    status.Source_Log_File === status.Relay_Source_Log_File &&
    status.Read_Source_Log_Pos === status.Exec_Source_Log_Pos,
};

async function mysqlPair(program: string | undefined, names: Names): Promise<Pair> {
  const common = [...names.settings, '--log-bin=log', '--log-slave-updates'];
  const primary = await startMariaDb(false, [...common, '--server-id=1'], program);
  const replica = await startMariaDb(false, [...common, '--server-id=2', '--read-only=ON'], program);
  const link = await startChaosProxy({ path: primary.socket });
  const all = async (server: MariaDb, texts: readonly string[]) => {
    for (const text of texts) await server.ask(text);
  };
  const one = async (server: MariaDb, text: string) => (await server.ask(text))[0] ?? {};
  const semiSync = `rpl_semi_sync_${names.source}`;
  await all(primary, names.both);
  await all(replica, [
    ...names.both,
    `SET GLOBAL rpl_semi_sync_${names.replica}_enabled = ON`,
    ...names.connect(link.port),
    names.start,
  ]);
  // What docs/stores.md asks for.
  await all(primary, [
    `SET GLOBAL ${semiSync}_timeout = 4294967295`,
    `SET GLOBAL ${semiSync}_wait_point = 'AFTER_SYNC'`,
    `SET GLOBAL ${semiSync}_enabled = ON`,
  ]);
  await until(async () => Number((await one(primary, `SHOW STATUS LIKE '${semiSync}_clients'`)).Value) === 1);
  await primary.ask('CREATE DATABASE gate');
  return {
    ...{ kind: 'mysql', primary: primary.socket, replica: replica.socket, link },
    url: (port) => `mysql://root@127.0.0.1:${port}/gate`,
    kill: () => primary.kill(),
    async promote() {
      await replica.ask(names.stopReceiving);
      // A replica has acknowledged what it has received, and may not have applied it.
      await until(async () => names.isApplied(await one(replica, names.status)));
      await all(replica, [...names.end, 'SET GLOBAL read_only = OFF']);
    },
    async close() {
      await link.close();
      await replica.close();
      await primary.close();
    },
  };
}

const until = (condition: () => boolean | Promise<boolean>) => vi.waitUntil(condition, 30_000);

/** The pairs that this machine can start. servers.ts names what is missing. */
export const PAIRS: readonly { readonly name: string; readonly start: () => Promise<Pair> }[] = [
  ...(POSTGRES === undefined ? [] : [{ name: 'PostgreSQL', start: postgresPair }]),
  ...(MARIADBD === undefined ? [] : [{ name: 'MariaDB', start: () => mysqlPair(MARIADBD, MARIADB) }]),
  ...(MYSQLD === undefined ? [] : [{ name: 'MySQL', start: () => mysqlPair(MYSQLD, MYSQL) }]),
];
