import { GatewayError } from '../../errors.ts';
import type { OpenedKind, StoreSecrets } from '../opened-store.ts';
import type { Clock } from '../store.ts';
import { sqlBus } from './bus.ts';
import { sqlCounters } from './counters.ts';
import { sqlDatabase } from './database.ts';
import type { SqlDialect } from './session.ts';
import { sqlStore } from './sql-store.ts';
import { checkSqlAtStart } from './start.ts';

/** Connections for the store. Counters and announcements of revocations have one each. */
const CONNECTIONS = 10;

/** Opens a store in a database server. See openStore. */
export function openSql(dialect: SqlDialect, { secret, databaseUrl }: StoreSecrets, clock: Clock): OpenedKind {
  // Loading the configuration fails earlier if these are missing.
  if (secret === undefined || databaseUrl === undefined) throw new GatewayError('internal');
  const database = sqlDatabase(dialect, databaseUrl, CONNECTIONS);
  const raw = sqlStore(database, clock);
  const bus = sqlBus(database, databaseUrl);
  return {
    raw,
    secrets: [secret],
    bus,
    counters: sqlCounters(sqlDatabase(dialect, databaseUrl, 1), secret, clock),
    check: () => checkSqlAtStart(database, raw, bus),
  };
}
