import { statSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { StoreOpenError } from './open-failure.ts';
import { identityOf, SCHEMA_VERSION } from './sqlite-schema.ts';

/** How far the start waits for the check of a large file. */
export interface CheckLimits {
  /** Bytes that are read through at once, in some hundredths of a second. */
  readonly atOnce: number;
  /** Milliseconds that the start waits for a file larger than that. */
  readonly patience: number;
}

export const CHECK_LIMITS: CheckLimits = { atOnce: 32 * 1024 * 1024, patience: 1000 };

/** A check that goes on beside the work. */
export interface Check {
  /** What was found, once the whole file is read; undefined: it is sound. */
  readonly found: Promise<StoreOpenError | undefined>;
  /** Ends it early. */
  stop(): Promise<void>;
}

const NO_CHECK: Check = { found: Promise.resolve(undefined), async stop() {} };

/** Out: the schema version. Throws StoreOpenError when the file is not ours to open. */
export function judgeIdentity(path: string, database: DatabaseSync): number {
  const { ours, version } = identityOf(database);
  if (!ours) throw new StoreOpenError('foreign', path, 'it is a database of another program');
  if (version > SCHEMA_VERSION) {
    throw new StoreOpenError('newer', path, `schema ${version}, this one knows ${SCHEMA_VERSION}`);
  }
  return version;
}

/** Reads every page once: what is wrong is told at the start, and not by the request that happens on it. */
export function judgePages(path: string, database: DatabaseSync): void {
  const verdict = asDamage(path, String(database.prepare('PRAGMA quick_check(1)').get()?.quick_check));
  if (verdict !== undefined) throw verdict;
}

/**
 * As `judgePages`, for a file of any size: a small one is read through here and now. A large one is read by a thread; the
 * start waits a while for what it finds, and then goes on without it. Throws StoreOpenError when damage was found by then.
 */
export function judgePagesWithin(path: string, database: DatabaseSync, limits: CheckLimits): Check {
  if (statSync(path).size <= limits.atOnce) {
    judgePages(path, database);
    return NO_CHECK;
  }
  const done = new Int32Array(new SharedArrayBuffer(4));
  const text = new Uint8Array(new SharedArrayBuffer(1024));
  const worker = new Worker(new URL('./sqlite-check-thread.ts', import.meta.url), { workerData: { path, done, text } });
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
    found,
    async stop() {
      await worker.terminate();
    },
  };
}

function asDamage(path: string, found: string): StoreOpenError | undefined {
  return found === 'ok' ? undefined : new StoreOpenError('damaged', path, found.replaceAll(/\s+/g, ' '));
}
