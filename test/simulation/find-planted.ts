import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { record, recorded, searchFor, twoAtATime, withPlantedBugs } from './found-bugs.ts';
import { PLANTED_BUGS } from './planted-bugs.ts';

const HELP = `npm run test:planted -- [--most 1000] [--searches 3] [--dry] [NAME…]

Plants one bug at a time in the code that the simulation runs, and searches for the first schedule that breaks a promise.
  --most      schedules of one search
  --searches  each from another seed; the first begins at 1
  --dry       changes neither planted-bugs.json nor docs/proof.md`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    most: { type: 'string', default: '1000' },
    searches: { type: 'string', default: '3' },
    dry: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

/** Far enough apart that searches share no schedule. */
const APART = 1_000_000;
const PAGE = new URL('../../docs/proof.md', import.meta.url);

if (values.help) console.log(HELP);
else await findPlanted();

async function findPlanted(): Promise<void> {
  const wanted = PLANTED_BUGS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  const starts = Array.from({ length: Number(values.searches) }, (_, at) => 1 + at * APART);
  const all = { ...recorded() };
  let found = 0;
  await twoAtATime(wanted, async (bug) => {
    const began = performance.now();
    const searches = await searchFor(bug.name, Number(values.most), starts);
    const seconds = ((performance.now() - began) / 1000).toFixed(0);
    const [first] = searches;
    const mean = searches.reduce((sum, { schedules }) => sum + schedules, 0) / searches.length;
    const missed = searches.filter(({ seed }) => seed === undefined).length;
    if (first?.seed === undefined || first.promise === undefined) {
      delete all[bug.name];
      console.log(`${bug.name.padEnd(30)} NOT FOUND in ${first?.schedules} schedules (${seconds} s)`);
      return;
    }
    found += 1;
    all[bug.name] = {
      seed: first.seed,
      promise: first.promise,
      mean: Math.round(mean),
      searches: starts.length,
      missed,
    };
    const also = missed === 0 ? '' : `, ${missed} searches without`;
    console.log(
      `${bug.name.padEnd(30)} ${first.promise.padEnd(20)} seed ${first.seed}, mean ${mean.toFixed(0)}${also} (${seconds} s)`,
    );
  });
  console.log(`${found} of ${wanted.length} found by the simulation`);
  const seeds = wanted.flatMap(({ name }) => all[name]?.seed ?? []);
  const broken = (await searchFor('none', 1, [...new Set(seeds)])).flatMap(({ seed }) => seed ?? []);
  if (broken.length > 0) throw new Error(`these seeds break a promise without any bug: ${broken.join(', ')}`);
  if (values.dry) return;
  record(all);
  writeFileSync(PAGE, withPlantedBugs(readFileSync(PAGE, 'utf8'), all));
}
