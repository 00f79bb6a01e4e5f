import { readFileSync } from 'node:fs';

/**
 * Milliseconds that this thread ran or waited for something other than a CPU. For limits that the gate in this process
 * must keep: on a loaded machine, the time until the scheduler lets it run is not its own. Outside Linux, the time that
 * has passed.
 */
export function ownTime(): number {
  return performance.now() - waitedForCpu();
}

/** Milliseconds on the run queue: the second field of schedstat, in nanoseconds. */
function waitedForCpu(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}
