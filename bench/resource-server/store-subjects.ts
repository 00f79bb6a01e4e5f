import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { redisStore } from '../../src/storage/redis/redis-store.ts';
import { sealedStore } from '../../src/storage/seal.ts';
import { sqlDatabase } from '../../src/storage/sql/database.ts';
import { mysql } from '../../src/storage/sql/mysql.ts';
import { postgres } from '../../src/storage/sql/postgres.ts';
import { sqlStore } from '../../src/storage/sql/sql-store.ts';
import { sqliteStore } from '../../src/storage/sqlite/sqlite-store.ts';
import type { Clock, Store } from '../../src/storage/store.ts';
import { type GateProcess, gateProcess } from '../../test/faults/gate-process.ts';
import { withoutIndexes } from '../../test/operator/console/support/seed.ts';
import { ready, type TestServer } from '../../test/storage/sql/servers.ts';
import { COMMAND_SECRET } from '../../test/support/commands.ts';
import type { RedisServer } from '../../test/support/redis.ts';
import type { Run } from '../support/run.ts';
import { type Named, twin } from '../support/turns.ts';
import { fill, type Pattern, type Stored } from './stored-tokens.ts';

export const LANES = 8;
export const SECRET = randomBytes(32).toString('base64url');

export type Kind = 'sqlite' | 'redis' | 'postgres' | 'mysql';

/** The servers that are measured. */
export interface Servers {
  readonly redis?: RedisServer;
  readonly postgres?: TestServer;
  readonly mysql?: TestServer;
}

/** A gate with a store of its own, which has `size` connected apps. */
export interface Subject extends Named {
  readonly kind: Kind;
  readonly size: number;
  readonly gate: GateProcess;
  /** Opens the store in this process. Its gate must not run. */
  open(clock?: Clock): Store;
  /** Opens it in the way in which it is filled fastest. */
  filled<T>(work: (store: Store) => Promise<T>): Promise<T>;
  readonly known: readonly Stored[];
}

/** How much is committed at once. A server must finish a commit within its deadline. */
const BATCHES = {
  sqlite: { batch: 2000, parallel: 1 },
  redis: { batch: 10, parallel: 4 },
  postgres: { batch: 20, parallel: 4 },
  mysql: { batch: 20, parallel: 4 },
} as const satisfies Readonly<Record<Kind, object>>;

/** Fills a store of this kind for each size, and one more of the first size. */
export async function filledSubjects(
  run: Run,
  kind: Kind,
  [smallest = 0, ...larger]: readonly number[],
  servers: Servers,
  pattern: Pattern,
): Promise<readonly Subject[]> {
  const nameOf = (size: number) => `${kind}, ${size.toLocaleString('en')}`;
  const subjects: Subject[] = [];
  for (const [name, size, twinOf] of [
    [nameOf(smallest), smallest],
    [twin(nameOf(smallest)), smallest, nameOf(smallest)],
    ...larger.map((size) => [nameOf(size), size] as const),
  ] as const) {
    const subject = await subjectOf(run, name, kind, servers);
    const began = performance.now();
    const known = await subject.filled((store) => fill(store, pattern, subject.gate.origin, size, BATCHES[kind]));
    run.say(`  ${name}: filled in ${Math.round((performance.now() - began) / 1000)} s`);
    subjects.push({ ...subject, twinOf, size, known });
  }
  return subjects;
}

async function subjectOf(
  { folder }: Run,
  name: string,
  kind: Kind,
  { redis, ...databases }: Servers,
): Promise<Omit<Subject, 'size' | 'known'>> {
  const slug = name.replace(/\W+/g, '-');
  const data = join(folder, slug);
  mkdirSync(data);
  const database = kind === 'postgres' || kind === 'mysql' ? databases[kind] : undefined;
  const url = (await database?.database(slug.toLowerCase().replaceAll('-', '_'))) ?? '';
  if (database !== undefined) await ready(database, url);
  const config = {
    sqlite: { kind: 'sqlite', path: join(data, 'coursegate.db') },
    redis: { kind: 'redis', url: { env: 'REDIS_URL' }, keyPrefix: slug },
    postgres: { kind: 'postgres', url: { env: 'DATABASE_URL' } },
    mysql: { kind: 'mysql', url: { env: 'DATABASE_URL' } },
  } as const;
  const inner = {
    sqlite: (clock: Clock) => sqliteStore(config.sqlite.path, clock),
    redis: (clock: Clock) => redisStore({ url: redis?.url ?? '', keyPrefix: config.redis.keyPrefix }, clock),
    postgres: (clock: Clock) => sqlStore(sqlDatabase(postgres, url, LANES), clock),
    mysql: (clock: Clock) => sqlStore(sqlDatabase(mysql, url, LANES), clock),
  };
  const environment = {
    COURSEGATE__SECRET: '{ env: BENCH_SECRET }',
    BENCH_SECRET: SECRET,
    COURSEGATE__ADMIN__HMAC__SECRET: '{ env: COMMAND_SECRET }',
    COMMAND_SECRET,
    COURSEGATE__STORE: JSON.stringify(config[kind]),
    REDIS_URL: redis?.url ?? '',
    DATABASE_URL: url,
  };
  const open = (clock: Clock = Date.now) => sealedStore(inner[kind](clock), SECRET);
  return {
    ...{ name, kind, open },
    gate: await gateProcess({ data, environment }),
    async filled(work) {
      const store = open();
      if (kind === 'mysql') {
        // Half of the time would go into waiting for the disk.
        await database?.run(url, 'SET GLOBAL innodb_flush_log_at_trx_commit = 0');
        return work(store)
          .finally(() => store.close())
          .finally(() => database?.run(url, 'SET GLOBAL innodb_flush_log_at_trx_commit = 1'));
      }
      if (kind !== 'sqlite') return work(store).finally(() => store.close());
      await store.close();
      const { raw, close } = withoutIndexes(config.sqlite.path);
      return work(sealedStore(raw, SECRET)).finally(close);
    },
  };
}
