/** What one slice of work cost. */
export interface Cost {
  /** CPU time per operation, in microseconds. */
  readonly cpu: number;
  readonly perSecond: number;
  readonly operations: number;
}

/**
 * Repeats an operation for about `seconds` in parallel lanes, each of which does one after another. `meter` starts to measure
 * the CPU time that counts; by default that of this process.
 */
export async function loadSlice<Lane>(
  lanes: readonly Lane[],
  operation: (lane: Lane) => Promise<unknown>,
  meter: () => () => number = ownMeter,
  seconds = 1,
): Promise<Cost> {
  const used = meter();
  const started = performance.now();
  const until = started + seconds * 1000;
  let done = 0;
  const drive = async (lane: Lane) => {
    do {
      await operation(lane);
      done += 1;
    } while (performance.now() < until);
  };
  await Promise.all(lanes.map(drive));
  return { cpu: used() / done, perSecond: (done * 1000) / (performance.now() - started), operations: done };
}

function ownMeter(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
}
