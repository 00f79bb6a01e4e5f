import { StoreNotReady } from '../../../src/storage/open-failure.ts';
import { sqlBus } from '../../../src/storage/sql/bus.ts';
import { sqlDatabase } from '../../../src/storage/sql/database.ts';
import type { SqlDialect } from '../../../src/storage/sql/session.ts';
import { sqlStore } from '../../../src/storage/sql/sql-store.ts';
import { checkSqlAtStart } from '../../../src/storage/sql/start.ts';

/** Runs the check as at start. Returns the warnings, or the failure. */
export async function check(dialect: SqlDialect, url: string): Promise<readonly string[] | Error> {
  const database = sqlDatabase(dialect, url, 2);
  const bus = sqlBus(database, url);
  try {
    return await checkSqlAtStart(database, sqlStore(database, Date.now), bus);
  } catch (thrown) {
    return thrown as Error;
  } finally {
    await bus.close();
    database.close();
  }
}

/** What awaitStore does: tries again while that may help. */
export async function started(dialect: SqlDialect, url: string): Promise<readonly string[] | Error> {
  for (let tries = 1; ; tries += 1) {
    const result = await check(dialect, url);
    if (!(result instanceof StoreNotReady) || tries === 20) return result;
  }
}

export const message = (failure: unknown) => (failure instanceof Error ? failure.message : JSON.stringify(failure));
