import { parseArgs } from 'node:util';
import { mysqlServer, postgresServer } from '../../test/storage/sql/servers.ts';
import { redisPresent, startRedis } from '../../test/support/redis.ts';
import { bench, OPTIONS } from '../support/run.ts';
import { measureIdTokens } from './id-tokens.ts';
import type { Kind, Servers } from './store-subjects.ts';
import { measureStores } from './stores.ts';

const { values: options } = parseArgs({ options: OPTIONS });
/**
 * Numbers of connected apps in a store, the smallest first. A million take 4 to 7 GB of disk or memory, and minutes to fill:
 * set BENCH_SIZES=1000,20000 for a short run.
 */
const SIZES = (process.env.BENCH_SIZES ?? '1000,1000000').split(',').map(Number);
const KINDS: readonly Kind[] = ['sqlite', 'redis', 'postgres', 'mysql'];
/**
 * Set BENCH_STORES=redis,postgres to measure these stores only, or BENCH_STORES=id-tokens for the algorithms of ID tokens.
 * Without it, the databases are left out.
 */
const PARTS = (process.env.BENCH_STORES ?? 'sqlite,redis,id-tokens').split(',');
const kinds = KINDS.filter((kind) => PARTS.includes(kind));

if (PARTS.includes('id-tokens')) await bench('Tokens: ID tokens', 12, options, measureIdTokens);
if (kinds.length > 0) {
  const servers: Servers = {
    ...(kinds.includes('redis') && redisPresent() ? { redis: await startRedis({ appendOnly: true }) } : {}),
    ...(kinds.includes('postgres') ? { postgres: await postgresServer(true) } : {}),
    ...(kinds.includes('mysql') ? { mysql: await mysqlServer(true) } : {}),
  };
  try {
    await bench('Tokens: stores', 10, options, (run) =>
      measureStores(
        run,
        kinds.filter((kind) => kind !== 'redis' || servers.redis !== undefined),
        SIZES,
        servers,
      ),
    );
  } finally {
    for (const server of Object.values(servers)) await server.close();
  }
}
