import { parentPort, workerData } from 'node:worker_threads';
import { runStreams } from '../../../bench/streams/trial.ts';

/** Runs event streams in a thread, with connections of its own: the soak closes those of its thread. */
parentPort?.postMessage(await runStreams({ ...workerData, say: () => undefined }));
