import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { queryObjects, writeHeapSnapshot } from 'node:v8';
import { isMainThread } from 'node:worker_threads';

/** The request to a gate, in a file next to the probe's output. */
export interface Question {
  readonly number: number;
  /** Whether to count objects too, which walks the whole heap. */
  readonly deep: boolean;
  /** Path of a heap snapshot to write, if any. */
  readonly snapshot?: string;
}

/** Memory of a gate after garbage collection, in bytes, and its CPU time in microseconds. */
export interface Held {
  readonly number: number;
  readonly heapUsed: number;
  readonly external: number;
  readonly arrayBuffers: number;
  readonly rss: number;
  readonly cpu: number;
  /** Live objects, by class. Timers that are unref'ed count too. */
  readonly objects?: { readonly timers: number; readonly sockets: number; readonly requests: number };
}

/**
 * Loaded only into the gates of the soak, with `--import`. On SIGUSR2 it collects garbage and writes a sample. The gate's own
 * code is unchanged.
 */
const file = process.env.SOAK_PROBE;
if (isMainThread && file !== undefined) {
  const { gc } = globalThis as unknown as { gc: () => void };
  const none = setTimeout(() => undefined, 0);
  clearTimeout(none);
  const Timeout = none.constructor;
  // biome-ignore lint/complexity/noBannedTypes: objects are counted by class
  const count = (type: Function): number => Number(queryObjects(type as () => void, { format: 'count' }));
  process.on('SIGUSR2', () => {
    const { number, deep, snapshot } = JSON.parse(readFileSync(`${file}.question`, 'utf8')) as Question;
    // The second collection frees what was reachable only from objects freed by the first.
    for (const _ of [1, 2]) gc();
    const { heapUsed, external, arrayBuffers, rss } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    const objects = deep
      ? { timers: count(Timeout), sockets: count(Socket), requests: count(IncomingMessage) + count(ServerResponse) }
      : undefined;
    if (snapshot !== undefined) writeHeapSnapshot(snapshot);
    const held = { number, heapUsed, external, arrayBuffers, rss, cpu: user + system, objects };
    writeFileSync(`${file}.part`, JSON.stringify(held));
    renameSync(`${file}.part`, file);
  });
  // The gate ends if the soak was killed.
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.exit(1);
  }, 5_000).unref();
}
