import { readFileSync } from 'node:fs';

export interface Cost {
  readonly perSecond: number;
  /** Microseconds of processor time for one. */
  readonly cpu: number;
}

/** In: how often, the work, and whose processor time counts: that of this process when left out. Microseconds. */
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

/** The same with several at once: each of `lanes` goes through its share of the work alone. */
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

/** Processor time of another process, from what Linux counts in hundredths of a second. */
export function processorTimeOf(pid: number): () => number {
  return () => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10_000;
  };
}
