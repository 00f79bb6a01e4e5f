import type { Counters } from '../counters.ts';
import { type CountShared, sharedCounters } from '../shared-counters.ts';
import type { Clock } from '../store.ts';
import type { SqlDatabase } from './database.ts';
import { sql, upsert } from './session.ts';

/** Milliseconds between two deletions of counters whose window has ended. */
const CLEARED_EVERY = 60_000;

/**
 * Counts in one database for several replicas. The server's clock ends windows.
 * @param database with a connection of its own, so that no commit waits behind it
 */
export function sqlCounters(database: SqlDatabase, secret: string, clock: Clock): Counters {
  const { dialect } = database;
  const { given, now } = dialect;
  const isOver = `coursegate_counter.resets_at <= ${now}`;
  // In this order, because MySQL assigns from left to right and the first must still see the old end.
  const add = `INSERT INTO coursegate_counter (id, count, resets_at) VALUES (?, ?, ${now} + ?) ${upsert(dialect, 'id', {
    count: `CASE WHEN ${isOver} THEN ${given('count')} ELSE coursegate_counter.count + ${given('count')} END`,
    resets_at: `CASE WHEN ${isOver} THEN ${given('resets_at')} ELSE coursegate_counter.resets_at END`,
  })}`;
  const read = `SELECT count, resets_at - ${now} AS milliseconds FROM coursegate_counter WHERE id = ?`;
  let cleared = 0;

  const share: CountShared = async (id, count, per) => {
    const isDue = clock() - cleared >= CLEARED_EVERY;
    if (isDue) cleared = clock();
    const [, rows] = await database.use((session) =>
      session.run(
        sql(add, id, count, per * 1000),
        sql(read, id),
        ...(isDue ? [sql(`DELETE FROM coursegate_counter WHERE resets_at <= ${now}`)] : []),
      ),
    );
    return { count: Number(rows?.[0]?.count), milliseconds: Number(rows?.[0]?.milliseconds) };
  };
  return { ...sharedCounters(share, secret, clock), close: () => database.close() };
}
