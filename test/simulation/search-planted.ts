/**
 * Searches for one planted bug: `node test/simulation/search-planted.ts NAME MOST SEED…`. From each seed on, it runs one
 * schedule after the other, at most MOST, until one breaks a promise. Prints a line of JSON for each. NAME is `none` for the
 * code as it is.
 */
import type { Found } from './found-bugs.ts';
import { bugNamed, plant } from './plant.ts';

const [name = '', most = '', ...starts] = process.argv.slice(2);
if (name !== 'none') plant(bugNamed(name));
const { simulate } = await import('./simulate.ts');

for (const start of starts.map(Number)) {
  let found: Found | undefined;
  let schedules = 0;
  while (found === undefined && schedules < Number(most)) {
    const seed = start + schedules;
    schedules += 1;
    const { violations } = await simulate(seed);
    // A gate that is too slow, or fails, is another matter.
    const first = violations.find(({ promise }) => promise !== 'NoFailure');
    if (first !== undefined) found = { seed, promise: first.promise, schedules };
  }
  process.stdout.write(`${JSON.stringify(found ?? { schedules })}\n`);
}
