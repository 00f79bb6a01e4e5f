import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { startThread } from '../../installation.ts';
import { StoreOpenError } from '../open-failure.ts';

/** How long startup waits for the check of a large file. */
export const CHECK_LIMITS = {
  /** Size in bytes up to which a file is checked synchronously, which takes some hundredths of a second. */
  atOnce: 32 * 1024 * 1024,
  /** Milliseconds that startup waits for a larger file. */
  patience: 100,
};

export const NO_CHECK = { found: Promise.resolve(undefined), async stop() {} };

/** Reads every page once, so that damage is reported at startup and not by the first request that hits it. */
export function judgePages(path: string, database: DatabaseSync): void {
  const verdict = asDamage(path, String(database.prepare('PRAGMA quick_check(1)').get()?.quick_check));
  if (verdict !== undefined) throw verdict;
}

/**
 * Like `judgePages`, for a file of any size. A small file is checked synchronously. A large one is checked by a thread:
 * startup waits a while for the result and then continues without it. Throws StoreOpenError if damage was found by
 * then.
 */
export function judgePagesWithin(path: string, database: DatabaseSync, limits: typeof CHECK_LIMITS) {
  if (statSync(path).size <= limits.atOnce) {
    judgePages(path, database);
    return NO_CHECK;
  }
  const done = new Int32Array(new SharedArrayBuffer(4));
  const text = new Uint8Array(new SharedArrayBuffer(1024));
  const worker = startThread('storage/sqlite/check-thread', { workerData: { path, done, text } });
  worker.unref();
  const verdict = () => (done[0] ? asDamage(path, Buffer.from(text.slice(0, done[0])).toString('utf8')) : undefined);
  const found = new Promise<StoreOpenError | undefined>((resolve) => {
    worker.once('error', (thrown) => resolve(asDamage(path, thrown.message)));
    worker.once('exit', () => resolve(verdict()));
  });
  Atomics.wait(done, 0, 0, limits.patience);
  const early = verdict();
  if (early !== undefined) throw early;
  return {
    /** The result once the whole file has been read; undefined: no damage. */
    found,
    /** Cancels the check. */
    async stop() {
      await worker.terminate();
    },
  };
}

function asDamage(path: string, found: string): StoreOpenError | undefined {
  return found === 'ok' ? undefined : new StoreOpenError('damaged', path, found.replaceAll(/\s+/g, ' '));
}
