import { once } from 'node:events';
import { startThread } from '../../installation.ts';
import { unavailable } from '../outbound-fetch.ts';
import { firstTwo, type Reader, type ReaderOptions } from './reader.ts';

/** Limit on waiting queries, as in the pools of the other databases. */
const WAITING = 64;

/**
 * Reads from SQLite, opened read-only, in a separate thread, since a slow query would block the event loop. A query that
 * times out counts towards the limit on concurrent queries until its thread has ended.
 */
export function sqliteReader({ url, query, timeout, connections }: ReaderOptions): Reader {
  const path = url.replace(/^sqlite:(?:\/\/(?=\/))?/, '');
  const sql = firstTwo(query);
  const queue: (() => void)[] = [];
  let running = 0;

  return {
    async rows(login) {
      if (running < connections) running += 1;
      else if (queue.length >= WAITING) throw unavailable('too many queries are waiting for the database');
      else await new Promise<void>((resolve) => queue.push(resolve));
      const workerData = { path, sql, login, timeout: Math.ceil(timeout) };
      const worker = startThread('login/database/sqlite-thread', { workerData });
      worker.once('exit', () => {
        const next = queue.shift();
        if (next === undefined) running -= 1;
        else next();
      });
      worker.unref();
      try {
        const [rows] = (await once(worker, 'message', { signal: AbortSignal.timeout(timeout) })) as [
          Record<string, unknown>[],
        ];
        return rows;
      } finally {
        worker.on('error', () => undefined);
        void worker.terminate();
      }
    },

    // Each query opens and closes the file itself.
    async close() {},
  };
}
