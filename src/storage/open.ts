// The store: entries with expiry in SQLite, Redis or memory (store.ts is the interface), sealed at rest with the
// operator's secret (seal.ts), and with it the counters and limits that replicas share.

import type { Config } from '../config/schema.ts';
import { openMemory } from './memory/open.ts';
import type { OpenedStore, OpenKind, StoreOpening, StoreSecrets } from './opened-store.ts';
import { openSqlite } from './sqlite/open.ts';
import type { Clock } from './store.ts';

const KINDS: { readonly [Kind in Config['store']['kind']]: OpenKind<Kind> } = {
  memory: openMemory,
  sqlite: openSqlite,
  // Loaded only if needed: other stores do not need the Redis client.
  redis: async (config, opening) => (await import('./redis/open.ts')).openRedis(config, opening),
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
