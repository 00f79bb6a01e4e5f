// The store: entries with expiry in SQLite, Redis, a database server or memory (store.ts is the interface), sealed at rest with the
// operator's secret (seal.ts), and with it the counters and limits that replicas share.

import type { Config } from '../config/schema.ts';
import type { RevocationBus } from './bus.ts';
import { memoryCounters } from './memory-counters.ts';
import { namespacedCounters, namespacedStore } from './namespace.ts';
import type { OpenKind, StoreSecrets } from './opened-store.ts';
import { countedPlaces } from './places.ts';
import { writingProbe } from './probe.ts';
import { schoolSecrets, sealed } from './seal.ts';
import type { Clock } from './store.ts';

/** Each kind is loaded only if it is needed: others do not need its client. */
const KINDS: { readonly [Kind in Config['store']['kind']]: OpenKind<Kind> } = {
  memory: async (...given) => (await import('./memory/open.ts')).openMemory(...given),
  sqlite: async (...given) => (await import('./sqlite/open.ts')).openSqlite(...given),
  redis: async (...given) => (await import('./redis/open.ts')).openRedis(...given),
  postgres: async (_, ...given) => {
    const [{ openSql }, { postgres }] = await Promise.all([import('./sql/open.ts'), import('./sql/postgres.ts')]);
    return openSql(postgres, ...given);
  },
  mysql: async (_, ...given) => {
    const [{ openSql }, { mysql }] = await Promise.all([import('./sql/open.ts'), import('./sql/mysql.ts')]);
    return openSql(mysql, ...given);
  },
};

/** The bus of a process that shares its store with no other process. */
const NO_REPLICAS: RevocationBus = {
  async announce() {},
  subscribe: () => () => {},
  async close() {},
};

/** Called for each entry that cannot be decrypted. */
type OnDamaged = (kind: string, reason: unknown) => void;

export type OpenedStore = Awaited<ReturnType<typeof openStore>>;

/**
 * Opens the configured store, sealed. `onDamaged` is called for each entry that cannot be decrypted; such an entry is
 * treated as absent. Throws GatewayError `store_unavailable`.
 */
export async function openStore(config: Config['store'], named: StoreSecrets, clock: Clock, onDamaged?: OnDamaged) {
  const open = KINDS[config.kind] as OpenKind<typeof config.kind>;
  const { raw, secrets, ...shared } = await open(config, named, clock);
  const opened = sealed(raw, [...secrets, ...(named.furtherSecrets ?? [])], onDamaged);
  const { bus = NO_REPLICAS, counters = memoryCounters(clock), check = async () => [] } = shared;
  /** The limits for sign-ins: exact within one replica, not across replicas. */
  const places = countedPlaces(counters, clock);
  return { ...opened, bus, counters, check, places, probe: writingProbe(opened.store, clock) };
}

/**
 * What one school has of an opened store: entries, keys and counters that no other school can reach, read or exhaust.
 * Closing any of it leaves the store open.
 * @param id the school's id, which is random and never used again
 * @param further secrets of the school that also open and verify, if it comes from elsewhere
 */
export function openedFor(
  { raw, secrets, bus, ...shared }: OpenedStore,
  id: string,
  clock: Clock,
  onDamaged: OnDamaged,
  further: readonly string[] = [],
) {
  const opened = sealed(namespacedStore(raw, id), [...schoolSecrets(secrets, id), ...further], onDamaged);
  const counters = namespacedCounters(shared.counters, id);
  return {
    ...opened,
    bus: { ...bus, close: async () => {} },
    counters,
    check: async () => [],
    places: countedPlaces(counters, clock),
    probe: writingProbe(opened.store, clock),
  } satisfies OpenedStore;
}
