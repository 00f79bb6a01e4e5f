import { pendingKeyWork } from './key-work.ts';

/** What happens. It can say that no code of a gate goes on because of it. */
type Run = () => unknown;

interface Planned {
  /** Simulated milliseconds. */
  readonly at: number;
  readonly order: number;
  /** Undefined once it has been cancelled. */
  run: Run | undefined;
}

/** Runs what happens in the simulation, one event after the other, in the order of the simulated time. */
export type Scheduler = ReturnType<typeof createScheduler>;

const MOST_EVENTS = 20_000;

/** @param start - simulated milliseconds since the epoch */
export function createScheduler(start: number) {
  let now = start;
  let count = 0;
  let yielding = 0;
  const heap: Planned[] = [];
  return {
    now: () => now,
    /** Code is running that lets others run for a turn of the event loop, and waits for nothing else then. Returns how to end that. */
    yields(): () => void {
      yielding += 1;
      return () => {
        yielding -= 1;
      };
    },
    /** Runs it `delay` milliseconds from now. Returns how to cancel that. */
    after(delay: number, run: Run): () => void {
      const planned: Planned = { at: now + Math.max(0, delay), order: count, run };
      count += 1;
      push(heap, planned);
      return () => {
        planned.run = undefined;
      };
    },
    /** Resolves when nothing is left to happen until then, or at all. */
    async run(until = Number.POSITIVE_INFINITY): Promise<void> {
      let events = 0;
      for (let next = heap[0]; next !== undefined && next.at <= until; next = heap[0]) {
        pop(heap);
        const { run } = next;
        if (run === undefined) continue;
        events += 1;
        if (events > MOST_EVENTS) throw new Error('the simulation does not come to an end');
        now = next.at;
        next.run = undefined;
        if (run() !== 'nothing goes on') await settled(yielding > 0 ? 2 : 1);
      }
      if (until !== Number.POSITIVE_INFINITY) now = Math.max(now, until);
    },
  };
}

/** Resolves when the code of the gates waits for something simulated. */
export async function settled(turns: number): Promise<void> {
  for (let left = turns; left > 0; left -= 1) {
    await turn();
    if (pendingKeyWork() > 0) left = turns + 1;
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

function isBefore(a: Planned, b: Planned): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function push(heap: Planned[], planned: Planned): void {
  let at = heap.push(planned) - 1;
  while (at > 0) {
    const above = (at - 1) >> 1;
    if (isBefore(heap[above] as Planned, planned)) break;
    heap[at] = heap[above] as Planned;
    at = above;
  }
  heap[at] = planned;
}

function pop(heap: Planned[]): void {
  const last = heap.pop() as Planned;
  if (heap.length === 0) return;
  let at = 0;
  for (;;) {
    let below = 2 * at + 1;
    if (below >= heap.length) break;
    if (below + 1 < heap.length && isBefore(heap[below + 1] as Planned, heap[below] as Planned)) below += 1;
    if (isBefore(last, heap[below] as Planned)) break;
    heap[at] = heap[below] as Planned;
    at = below;
  }
  heap[at] = last;
}
