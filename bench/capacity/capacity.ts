import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { BENCHES } from '../benches.ts';
import { conditions } from '../support/report.ts';
import { OPTIONS, withRun } from '../support/run.ts';
import { measureParts } from './measure.ts';
import { capacitySection, type Parts, withCapacity } from './model.ts';

/** Measures what docs/scaling.md derives its tables from, and writes both, with what speaks against the figures. */
const { values: options } = parseArgs({ options: OPTIONS });
/** Figures that are not for publication do not change the page either. */
const ELSEWHERE = process.env.BENCH_RESULTS;
const FILE = ELSEWHERE === undefined ? new URL('parts.json', import.meta.url) : join(dirname(ELSEWHERE), 'parts.json');
const PAGE = new URL('../../docs/scaling.md', import.meta.url);

const at = conditions();
await withRun(BENCHES.capacity, options, async (run) => {
  const measured = await measureParts(run);
  const parts: Parts = { conditions: at.text, objections: run.objections(), ...measured };
  process.stdout.write(`\n${capacitySection(parts)}\n\n${run.quality()}\n`);
  if (options['no-report']) return;
  writeFileSync(FILE, `${JSON.stringify(parts, undefined, 2)}\n`);
  if (ELSEWHERE === undefined) writeFileSync(PAGE, withCapacity(readFileSync(PAGE, 'utf8'), parts));
});
