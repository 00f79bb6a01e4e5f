import { readFileSync } from 'node:fs';

/**
 * Milliseconds that this thread ran, or waited for something other than a CPU. For time limits on the gate in this
 * process: on a loaded machine, the wait for the scheduler must not count. Outside Linux, it is wall-clock time.
 */
export function ownTime(): number {
  return performance.now() - waitedForCpu();
}

/** Milliseconds spent on the run queue: the second field of schedstat, which is in nanoseconds. */
function waitedForCpu(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}
