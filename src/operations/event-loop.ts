/** Milliseconds: even a message of the largest size may not block one turn for longer. */
const LIMIT = 50;
/** Sampling interval in milliseconds. */
const EVERY = 20;

/**
 * Watches the event loop of this process. `blocked` is called with the milliseconds of a turn that took more than 50,
 * counting only time in which this thread used the processor: a separate gauge shows when the machine is too busy to
 * run it.
 * @returns a function that stops the watch. The timer does not keep the process alive.
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

/** Processor time of this thread, in milliseconds. */
function processorTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
