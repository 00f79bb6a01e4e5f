import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { LoadedConfig } from '../../config/load.ts';
import { GatewayError } from '../../errors.ts';
import type { Charge } from '../quota.ts';
import { connectRedis } from '../redis/connection.ts';
import { type RedisOptions, redisStore } from '../redis/redis-store.ts';
import { checkRedisAtStart } from '../redis/start.ts';
import { createRedisClient, type RedisClient } from '../redis/target.ts';
import { sqlDatabase } from '../sql/database.ts';
import { mysql } from '../sql/mysql.ts';
import { postgres } from '../sql/postgres.ts';
import type { SqlDialect } from '../sql/session.ts';
import { sqlStore } from '../sql/sql-store.ts';
import { checkSqlAtStart } from '../sql/start.ts';
import { byKeys, type EntryKey, entryStatements } from '../sql/statements.ts';
import { sqliteStore } from '../sqlite/sqlite-store.ts';
import type { Entry, RawStore } from '../store.ts';
import { withoutReplicas } from '../without-replicas.ts';

/** An entry as it is stored, with what it counts towards. */
export interface WholeEntry extends Entry {
  readonly charge?: Charge | undefined;
}

/** A store to copy from or to, below the seal, with what only a copy needs. */
export interface CopySide extends RawStore {
  /** Throws GatewayError with a message for operators if the store cannot be used. */
  check(): Promise<unknown>;
  /** The `quota`, `network`, `wider` and `client` of each entry; empty or undefined if it is not charged. */
  charges(entries: readonly Entry[]): Promise<readonly (Readonly<Record<string, unknown>> | undefined)[]>;
  /** Sets `consumedAt` and `revision` of entries that are stored as new ones. */
  use(entries: readonly WholeEntry[]): Promise<unknown>;
}

/** Opens the store that a configuration names. Throws GatewayError, and Error with a message for operators. */
export function openSide({ config: { store }, redis, databaseUrl = '' }: LoadedConfig, isSource: boolean): CopySide {
  switch (store.kind) {
    case 'memory':
      throw new Error('A store in memory ends with its process, and cannot be copied.');
    case 'sqlite':
      if (isSource && !existsSync(store.path)) throw new Error(`There is no store ${store.path}.`);
      return sqliteSide(store.path);
    case 'redis': {
      const { kind, tls, ...settings } = store;
      if (redis === undefined) throw new GatewayError('internal');
      return redisSide({ ...settings, ...redis, tls: tls && { ...tls, ...redis.tls } });
    }
    default:
      return sqlSide(store.kind === 'mysql' ? mysql : postgres, databaseUrl);
  }
}

function sqliteSide(path: string): CopySide {
  const store = sqliteStore(path, Date.now);
  const database = new DatabaseSync(path, { timeout: 5000 });
  const charge = database.prepare(
    'SELECT quota, by_network AS network, by_wider AS wider, by_client AS client FROM entry WHERE kind = ? AND id = ?',
  );
  const use = database.prepare(
    'UPDATE entry SET consumed_at = value ->> 2, revision = value ->> 3 FROM json_each(?) WHERE kind = value ->> 0 AND entry.id = value ->> 1',
  );
  return {
    ...store,
    check: async () => undefined,
    charges: async (entries) => entries.map(({ kind, id }) => charge.get(kind, id)),
    use: async (entries) =>
      use.run(JSON.stringify(entries.map((entry) => [entry.kind, entry.id, entry.consumedAt ?? null, entry.revision]))),
    async close() {
      database.close();
      await store.close();
    },
  };
}

/** Its keys are those of script-entries.ts. */
function redisSide(options: RedisOptions): CopySide {
  const store = redisStore(options, Date.now);
  const connection = connectRedis(createRedisClient(options));
  const keyOf = (of: string, { kind, id }: EntryKey) => `{${options.keyPrefix}}:${of}:${kind}:${id}`;
  const each = <T>(entries: readonly Entry[], send: (client: RedisClient, entry: Entry) => Promise<T>) =>
    connection.call((client) => Promise.all(entries.map((entry) => send(client, entry))));
  return {
    ...store,
    check: () => checkRedisAtStart(options, store),
    charges: (entries) =>
      each(entries, async (redis, entry) => {
        const [quota, network, wider, client] = await redis.hmget(
          keyOf('charge', entry),
          'quota',
          'network',
          'wider',
          'client',
        );
        return { quota, network, wider, client };
      }),
    use: (entries) =>
      each(entries, (client, { consumedAt, revision, ...key }) =>
        client.hset(keyOf('entry', key), { revision, ...(consumedAt !== undefined && { consumedAt }) }),
      ),
    async close() {
      connection.close();
      await store.close();
    },
  };
}

function sqlSide(dialect: SqlDialect, url: string): CopySide {
  const database = sqlDatabase(dialect, url, 4);
  const store = sqlStore(database, Date.now);
  const { overwrite } = entryStatements(dialect);
  return {
    ...store,
    check: () => checkSqlAtStart(database, store, withoutReplicas(Date.now).bus),
    async charges(entries) {
      const search = byKeys('SELECT * FROM coursegate_charge', entries, '');
      const rows = (await database.use((session) => session.run(...search))).flat();
      return entries.map(({ kind, id }) => rows.find((row) => row.kind === kind && row.id === id));
    },
    use: (entries) =>
      database.transact(({ commit }) =>
        commit(...overwrite(entries.map((entry) => ({ ...entry, charged: entry.charge !== undefined })))),
      ),
  };
}
