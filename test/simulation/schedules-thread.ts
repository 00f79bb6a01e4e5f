import { parentPort, workerData } from 'node:worker_threads';
import { addTo, newTotal } from './report.ts';
import { simulate } from './simulate.ts';

// Runs every `step`th seed, and stops at the first that breaks a promise.
const { from, until, step } = workerData as { from: number; until: number; step: number };
const total = newTotal();
for (let seed = from; seed < until && total.broken.length === 0; seed += step) addTo(total, await simulate(seed));
parentPort?.postMessage(total);
