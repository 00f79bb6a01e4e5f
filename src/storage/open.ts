// The store: entries with expiry in SQLite, Redis, a database server or memory (store.ts is the interface), sealed at rest with the
// operator's secret (seal.ts), and with it the counters and limits that replicas share.

import type { Config } from '../config/schema.ts';
import type { OpenedStore, OpenKind, StoreOpening, StoreSecrets } from './opened-store.ts';
import type { Clock } from './store.ts';

/** Each kind is loaded only if it is needed: others do not need its client. */
const KINDS: { readonly [Kind in Config['store']['kind']]: OpenKind<Kind> } = {
  memory: async (...given) => (await import('./memory/open.ts')).openMemory(...given),
  sqlite: async (...given) => (await import('./sqlite/open.ts')).openSqlite(...given),
  redis: async (...given) => (await import('./redis/open.ts')).openRedis(...given),
  postgres: async (_, opening) => {
    const [{ openSql }, { postgres }] = await Promise.all([import('./sql/open.ts'), import('./sql/postgres.ts')]);
    return openSql(postgres, opening);
  },
  mysql: async (_, opening) => {
    const [{ openSql }, { mysql }] = await Promise.all([import('./sql/open.ts'), import('./sql/mysql.ts')]);
    return openSql(mysql, opening);
  },
};

/**
 * Opens the configured store, sealed. `onDamaged` is called for each entry that cannot be decrypted; such an entry is
 * treated as absent. Throws GatewayError `store_unavailable`.
 */
export async function openStore(
  config: Config['store'],
  named: StoreSecrets,
  clock: Clock,
  onDamaged?: StoreOpening['onDamaged'],
): Promise<OpenedStore> {
  const open = KINDS[config.kind] as OpenKind<typeof config.kind>;
  return open(config, { named, clock, onDamaged });
}
