/** Milliseconds: no message of the largest size may take longer in one turn. */
const LIMIT = 50;
/** How often it is looked, in milliseconds. */
const EVERY = 20;

/**
 * Watches the event loop of this process. `blocked` is told how many milliseconds a turn took when they were more than
 * 50, in which this thread worked: when the machine is too busy to run it, another gauge says so.
 * @returns what ends the watch. It keeps no process alive.
 */
export function watchEventLoop(blocked: (milliseconds: number) => void): () => void {
  let at = performance.now();
  let worked = processorTime();
  const timer = setInterval(() => {
    const [now, work] = [performance.now(), processorTime()];
    const took = Math.min(now - at - EVERY, work - worked);
    if (took > LIMIT) blocked(took);
    at = now;
    worked = work;
  }, EVERY).unref();
  return () => clearInterval(timer);
}

/** Milliseconds of processor time of this thread. */
function processorTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
