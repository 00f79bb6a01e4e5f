let best = Number.POSITIVE_INFINITY;

/**
 * How much more processor time the same computation takes now than at its best in this process: 1 on an idle machine.
 * Processes that share a core or its caches slow each other down, so a bound on processor time is a bound on the time
 * divided by this. Measure right after what the bound is about. Blocks the event loop for some 50 ms.
 */
export function slowness(): number {
  const time = reference();
  best = Math.min(best, time);
  return time / best;
}

const TEXT = JSON.stringify(Array.from({ length: 8_000 }, (_, at) => ({ id: at, name: `a [b](c) <d> ${at}` })));
/** Enough for clocks that count processor time in steps of some milliseconds. */
const ROUNDS = 20;

/** Milliseconds of processor time for what messages mostly cost: parsing, matching, writing. */
function reference(): number {
  const before = worked();
  for (let round = 0; round < ROUNDS; round += 1) JSON.stringify(JSON.parse(TEXT)).replace(/\[|<\w/g, '');
  return worked() - before;
}

function worked(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

// The best of the process must not be the first run, which compiles the code, nor one of a busy moment.
for (let run = 0; run < 10; run += 1) slowness();
