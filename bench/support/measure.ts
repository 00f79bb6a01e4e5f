import { readFileSync } from 'node:fs';

export interface Cost {
  readonly perSecond: number;
  /** CPU time per operation, in microseconds. */
  readonly cpu: number;
}

/**
 * Measures work that is repeated `times` times. `processorTime` returns the CPU time that counts, in microseconds; by default
 * that of this process.
 */
export async function cost(
  times: number,
  work: (at: number) => Promise<unknown>,
  processorTime: () => number = ownTime,
): Promise<Cost> {
  const [started, used] = [performance.now(), processorTime()];
  for (let at = 0; at < times; at += 1) await work(at);
  const seconds = (performance.now() - started) / 1000;
  return { perSecond: times / seconds, cpu: (processorTime() - used) / times };
}

/** The same with `lanes` operations in parallel. Each lane does its share of the work sequentially. */
export async function costOfLanes<Lane>(
  lanes: readonly Lane[],
  each: number,
  work: (lane: Lane) => Promise<unknown>,
  processorTime: () => number,
): Promise<Cost> {
  const times = lanes.length * each;
  const all = () =>
    Promise.all(
      lanes.map(async (lane) => {
        for (let at = 0; at < each; at += 1) await work(lane);
      }),
    );
  const { perSecond, cpu } = await cost(1, all, processorTime);
  return { perSecond: perSecond * times, cpu: cpu / times };
}

export function median(costs: readonly Cost[]): Cost {
  const middle = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
  return { perSecond: middle(costs.map((one) => one.perSecond)), cpu: middle(costs.map((one) => one.cpu)) };
}

function ownTime(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** CPU time of another process. Linux counts it in hundredths of a second. */
export function processorTimeOf(pid: number): () => number {
  return () => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10_000;
  };
}
