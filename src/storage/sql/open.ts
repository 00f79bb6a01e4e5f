import { GatewayError } from '../../errors.ts';
import type { OpenedStore, StoreOpening } from '../opened-store.ts';
import { countedPlaces } from '../places.ts';
import { writingProbe } from '../probe.ts';
import { sealed } from '../seal.ts';
import { sqlBus } from './bus.ts';
import { sqlCounters } from './counters.ts';
import { sqlDatabase } from './database.ts';
import type { SqlDialect } from './session.ts';
import { sqlStore } from './sql-store.ts';
import { checkSqlAtStart } from './start.ts';

/** Connections for the store. Counters and announcements of revocations have one each. */
const CONNECTIONS = 10;

/** Opens a store in a database server. See openStore. */
export function openSql(
  dialect: SqlDialect,
  { named: { secret, furtherSecrets = [], databaseUrl }, clock, onDamaged }: StoreOpening,
): OpenedStore {
  // Loading the configuration fails earlier if these are missing.
  if (secret === undefined || databaseUrl === undefined) throw new GatewayError('internal');
  const database = sqlDatabase(dialect, databaseUrl, CONNECTIONS);
  const inner = sqlStore(database, clock);
  const counters = sqlCounters(sqlDatabase(dialect, databaseUrl, 1), secret, clock);
  const bus = sqlBus(database, databaseUrl);
  const opened = sealed(inner, [secret, ...furtherSecrets], onDamaged);
  return {
    ...opened,
    bus,
    counters,
    places: countedPlaces(counters, clock),
    check: () => checkSqlAtStart(database, inner, bus),
    probe: writingProbe(opened.store, clock),
  };
}
