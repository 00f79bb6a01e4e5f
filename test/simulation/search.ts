import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { addAll, newTotal, type Total } from './report.ts';

/** Runs as many schedules on threads. Each thread stops at its first that breaks a promise. */
export async function searchSchedules(from: number, schedules: number, threads: number): Promise<Total> {
  const runs = Array.from({ length: threads }, async (_, thread) => {
    const workerData = { from: from + thread, until: from + schedules, step: threads };
    const worker = new Worker(new URL('schedules-thread.ts', import.meta.url), { workerData });
    const [total] = (await once(worker, 'message')) as [Total];
    return total;
  });
  const total = newTotal();
  for (const one of await Promise.all(runs)) addAll(total, one);
  return total;
}
