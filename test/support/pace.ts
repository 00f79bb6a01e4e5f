/** Milliseconds of processor time that the reference work takes on a machine of two cores that has nothing else to do. */
const USUAL = 40;
/** Attempts until a cost counts as too high: a neighbour on the core, or a collection, can disturb some of them. */
const TRIES = 5;
/** Nothing disturbs an attempt so much that it takes this many times what it may. */
const FAR = 5;
/** Milliseconds between two looks at the clock, and the most that count in between. */
const [TICK, LONGEST_TICK] = [10, 50];

const TEXT = JSON.stringify(Array.from({ length: 8_000 }, (_, at) => ({ id: at, name: `a [b](c) <d> ${at}` })));
/** Enough for clocks that count processor time in steps of some milliseconds. */
const ROUNDS = 20;

/**
 * How many times longer than usual a computation takes now, in processor time: 1 on an idle machine, and never less. A
 * slower machine, or processes that share the core or its caches, make it more. Measure right after what a bound on
 * processor time is about, and divide by this. Blocks the event loop for some 40 ms.
 */
export function slowness(): number {
  return Math.max(1, reference() / USUAL);
}

/**
 * The processor time of `work` in milliseconds of a usual machine: the least of up to five attempts, of which the first
 * within `most` is the last.
 * @param clock reads the milliseconds of processor time spent so far. Default: those of this thread.
 */
export async function leastCost(most: number, work: () => unknown, clock: () => number = threadTime): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < TRIES && least > most; tries += 1) {
    const before = clock();
    await work();
    const cost = clock() - before;
    // Measured only when it matters.
    const usual = cost > most ? cost / slowness() : cost;
    least = Math.min(least, usual);
    if (usual > FAR * most) break;
  }
  return least;
}

/**
 * The milliseconds that `work` takes, without those in which this process did not run: for time limits of a gate in this
 * process, whose timers stand still as well while the machine stalls.
 */
export async function timeOf(work: () => unknown): Promise<number> {
  let [spent, last] = [0, performance.now()];
  const tick = () => {
    const now = performance.now();
    spent += Math.min(now - last, LONGEST_TICK);
    last = now;
  };
  const timer = setInterval(tick, TICK);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  tick();
  return spent;
}

/** Milliseconds of processor time of this thread. */
function threadTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Milliseconds of processor time for what messages mostly cost: parsing, matching, writing. */
function reference(): number {
  const before = threadTime();
  for (let round = 0; round < ROUNDS; round += 1) JSON.stringify(JSON.parse(TEXT)).replace(/\[|<\w/g, '');
  return threadTime() - before;
}

// The first runs compile the code.
for (let run = 0; run < 3; run += 1) reference();
