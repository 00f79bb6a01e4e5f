import cluster from 'node:cluster';
import { writeSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { createLineWriter } from '../operations/line-writer.ts';
import type { Log } from '../operations/log.ts';
import type { Exit } from './crew.ts';
import { reclaimConnections } from './handed-over.ts';
import type { StartedProcess } from './primary.ts';
import { relayLines } from './relay.ts';

/** Set for workers only: node:cluster's own mark is also on a process that another supervisor has started. */
const WORKER_MARK = 'COURSEGATE_WORKER';

export interface WorkerProcesses {
  /** Starts a process with the same command line as this one. */
  readonly fork: () => StartedProcess;
  /** Lines of the access log that nobody took. */
  readonly droppedLines: () => number;
  /** Writes what is left of what the workers have written. */
  close(): Promise<void>;
}

/** Milliseconds between two tries to write to a log that is not read, and how often it is tried. */
const RETRY = 10;
const TRIES = 100;

/**
 * The processes of the workers. The primary accepts their connections and hands them out in turn: left to wake up all at
 * once, the kernel gives nearly all to one of them; with a socket for each (SO_REUSEPORT) what waits at a worker that ends
 * is lost, and a second gate could take half of the requests without a word. A worker that ends hands back what it has not
 * begun. What they write goes through here. In: the descriptors of the log and the access log.
 */
export function workerProcesses(
  descriptors: { readonly log: number; readonly access: number },
  log: Log,
): WorkerProcesses {
  cluster.schedulingPolicy = cluster.SCHED_RR;
  // By structured clone: JSON knows neither bytes nor maps, nor that something is unlimited.
  cluster.setupPrimary({ silent: true, serialization: 'advanced' });
  const lines = createLineWriter(descriptors.access, (error) =>
    log.error({ err: error }, 'the access log cannot be written'),
  );
  const relays = new Set<Promise<void>>();
  const relay = (from: Readable | null, write: (bytes: Buffer) => void): void => {
    if (from === null) return;
    const done = relayLines(from, write).finally(() => relays.delete(done));
    relays.add(done);
  };

  return {
    fork() {
      const worker = cluster.fork({ [WORKER_MARK]: 'yes' });
      const { stdout, stderr, pid } = worker.process;
      reclaimConnections(worker.process);
      // What could not be sent to one that is gone: that it is gone is seen by its exit.
      worker.on('error', () => undefined);
      relay(stdout, (bytes) => lines.write(bytes.toString('utf8')));
      relay(stderr, (bytes) => writeAll(descriptors.log, bytes));
      const exited = new Promise<Exit>((resolve) => {
        worker.once('exit', (code: number | null, signal: string | null) => resolve({ code, signal }));
      });
      return {
        pid,
        port: {
          send: (message, failed) => void worker.send(message, failed),
          receive: (take) => void worker.on('message', take),
        },
        exited,
        kill: () => void worker.process.kill('SIGKILL'),
      };
    },
    droppedLines: lines.dropped,
    async close() {
      await Promise.all(relays);
      await lines.close();
    },
  };
}

/** At once, as our own log is written: the two never break each other's lines. What nobody reads for a second is lost. */
function writeAll(descriptor: number, bytes: Buffer): void {
  let at = 0;
  for (let tries = 0; at < bytes.length && tries < TRIES; ) {
    try {
      at += writeSync(descriptor, bytes, at);
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'EAGAIN') return;
      tries += 1;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY);
    }
  }
}
