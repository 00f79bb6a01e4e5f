import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { queryObjects, writeHeapSnapshot } from 'node:v8';
import { isMainThread } from 'node:worker_threads';

/** What is asked of a gate: a file beside the probe's own. */
export interface Question {
  readonly number: number;
  /** Whether objects are counted too, which walks the whole heap. */
  readonly deep: boolean;
  /** Where a snapshot of the heap goes, if one is wanted. */
  readonly snapshot?: string;
}

/** What a gate holds once its garbage is collected; bytes, and microseconds of processor time. */
export interface Held {
  readonly number: number;
  readonly heapUsed: number;
  readonly external: number;
  readonly arrayBuffers: number;
  readonly rss: number;
  readonly cpu: number;
  /** Objects that are alive, by class. Timers are counted whether or not they keep the process. */
  readonly objects?: { readonly timers: number; readonly sockets: number; readonly requests: number };
}

/**
 * Loaded into the gates of the soak alone, by `--import`: at SIGUSR2 it collects the garbage and writes what is left. The
 * gate itself knows nothing of it.
 */
const file = process.env.SOAK_PROBE;
if (isMainThread && file !== undefined) {
  const { gc } = globalThis as unknown as { gc: () => void };
  const none = setTimeout(() => undefined, 0);
  clearTimeout(none);
  const Timeout = none.constructor;
  // biome-ignore lint/complexity/noBannedTypes: a class is what is counted by
  const count = (type: Function): number => Number(queryObjects(type as () => void, { format: 'count' }));
  process.on('SIGUSR2', () => {
    const { number, deep, snapshot } = JSON.parse(readFileSync(`${file}.question`, 'utf8')) as Question;
    // Once for what is young, once for what that held on to.
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
  // A gate whose soak was killed does not go on alone.
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) process.exit(1);
  }, 5_000).unref();
}
