import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { timeline } from './history.ts';
import { describeFailure, describeTotal } from './report.ts';
import { searchSchedules } from './search.ts';
import { shrink } from './shrink.ts';
import { simulate } from './simulate.ts';

/**
 * `npm run test:simulation -- --seed 7` prints what happens with one seed. `--schedules 1000 --from 5000` runs seeds 5000 to
 * 5999 on as many threads as there are processors, stops when one breaks a promise, and prints the smallest part of it that
 * still does.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    schedules: { type: 'string', default: '20000' },
    from: { type: 'string', default: '1' },
  },
});

const print = (text: string) => process.stdout.write(`${text}\n`);

async function replay(seed: number): Promise<boolean> {
  const outcome = await simulate(seed);
  if (outcome.violations.length === 0) print(timeline(outcome.history));
  else print(describeFailure(await shrink(outcome)));
  return outcome.violations.length === 0;
}

async function search(from: number, schedules: number): Promise<boolean> {
  const total = await searchSchedules(from, schedules, availableParallelism());
  const [broken] = total.broken.toSorted((a, b) => a - b);
  if (broken !== undefined) await replay(broken);
  print(describeTotal(total));
  return broken === undefined;
}

const isKept =
  values.seed === undefined
    ? await search(Number(values.from), Number(values.schedules))
    : await replay(Number(values.seed));
process.exitCode = isKept ? 0 : 1;
