import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { unavailable } from '../outbound-fetch.ts';
import { firstTwo, type Reader, type ReaderOptions } from './reader.ts';

/** As many as the pools of the other databases let wait. */
const WAITING = 64;

/**
 * SQLite, opened to be read only, in a thread of its own: a slow question would hold up the gate. One that takes too long
 * is left to end by itself, and counts among the few that there may be until it has.
 */
export function sqliteReader({ url, query, timeout, connections }: ReaderOptions): Reader {
  const path = url.replace(/^sqlite:(?:\/\/(?=\/))?/, '');
  const sql = firstTwo(query);
  const line: (() => void)[] = [];
  let under = 0;

  return {
    async rows(login) {
      if (under < connections) under += 1;
      else if (line.length >= WAITING) throw unavailable('the database has as many questions as it may');
      else await new Promise<void>((go) => line.push(go));
      const workerData = { path, sql, login, timeout: Math.ceil(timeout) };
      const worker = new Worker(new URL('./sqlite-thread.ts', import.meta.url), { workerData });
      worker.once('exit', () => {
        const next = line.shift();
        if (next === undefined) under -= 1;
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

    // Each question opens and closes the file itself.
    async close() {},
  };
}
