import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Redis } from 'ioredis';
import { mysql } from '../../src/storage/sql/mysql.ts';
import { postgres } from '../../src/storage/sql/postgres.ts';
import { sql } from '../../src/storage/sql/session.ts';
import { SMALL } from '../config/fixture.ts';
import { SERVERS } from '../storage/sql/servers.ts';
import { type RedisServer, redisPresent, startRedis } from './redis.ts';

/** An empty store, as the `store` of a configuration, and a configuration file that names it. */
interface EmptyStore {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly file: string;
}

export interface TestStores {
  /** The kinds of stores that this machine has. */
  readonly kinds: readonly string[];
  /** What the configuration files read. */
  readonly environment: Readonly<Record<string, string>>;
  /** Loses its data when it is killed. */
  readonly redis: RedisServer | undefined;
  empty(kind: string, secret?: string): Promise<EmptyStore>;
  /** How many entries it has, or keys, while another process may have it open. */
  count(store: EmptyStore): Promise<number>;
  /** A configuration file with these settings. */
  write(settings: EmptyStore['settings'], secret?: string): string;
  close(): Promise<void>;
}

/** Starts every kind of store that this machine has. */
export async function startStores(): Promise<TestStores> {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-stores-'));
  const redis = redisPresent() ? await startRedis() : undefined;
  const servers = await Promise.all(SERVERS.map(({ start }) => start()));
  const environment: Record<string, string> = {
    REDIS_URL: redis?.url ?? '',
    COURSEGATE_SECRET: 'k'.repeat(32),
    OTHER_SECRET: 'o'.repeat(32),
    NOWHERE: `unix://${join(folder, 'nowhere.sock')}`,
  };
  const client = redis && new Redis(redis.socket);
  // While a test has killed its server.
  client?.on('error', () => {});
  let count = 0;
  const write: TestStores['write'] = (settings, secret = '{ env: COURSEGATE_SECRET }') => {
    count += 1;
    const file = join(folder, `gate-${count}.yaml`);
    writeFileSync(file, SMALL.replace(/^store: .*$/m, `store: ${JSON.stringify(settings)}\nsecret: ${secret}`));
    return file;
  };
  return {
    kinds: ['sqlite', ...(redis === undefined ? [] : ['redis']), ...servers.map(({ kind }) => kind)],
    environment,
    redis,
    write,
    async empty(kind, secret) {
      const name = `copy${count}`;
      const settingsOf = async () => {
        if (kind === 'sqlite') return { kind, path: join(folder, `${name}.db`) };
        if (kind === 'redis') return { kind, url: { env: 'REDIS_URL' }, keyPrefix: name };
        const url = await servers.find((server) => server.kind === kind)?.database(name);
        environment[name.toUpperCase()] = url ?? '';
        return { kind, url: { env: name.toUpperCase() } };
      };
      const settings = await settingsOf();
      return { settings, file: write(settings, secret) };
    },
    async count({ settings: { kind, path, keyPrefix, url } }) {
      if (kind === 'sqlite') {
        if (!existsSync(String(path))) return 0;
        const database = new DatabaseSync(String(path), { readOnly: true, timeout: 5000 });
        const row = database.prepare('SELECT COUNT(*) AS count FROM entry').get();
        database.close();
        return Number(row?.count);
      }
      if (kind === 'redis') return (await client?.keys(`{${keyPrefix}}:entry:*`))?.length ?? 0;
      const dialect = kind === 'mysql' ? mysql : postgres;
      const session = await dialect.connect(environment[(url as { env: string }).env] ?? '');
      try {
        const rows = await session.run(sql('SELECT COUNT(*) AS count FROM coursegate_entry')).catch(() => []);
        return Number(rows[0]?.[0]?.count ?? 0);
      } finally {
        session.close();
      }
    },
    async close() {
      client?.disconnect();
      await redis?.close();
      await Promise.all(servers.map((server) => server.close()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
