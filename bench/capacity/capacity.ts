import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { conditions } from '../support/report.ts';
import { OPTIONS, withRun } from '../support/run.ts';
import { measureParts } from './measure.ts';
import { capacitySection, type Parts, withCapacity } from './model.ts';

/**
 * Measures what docs/scaling.md derives its tables from, and writes both. Figures of a busy machine are written with a remark, and
 * never replace those of an idle one.
 */
const { values: options } = parseArgs({ options: OPTIONS });
const FILE = new URL('parts.json', import.meta.url);
const PAGE = new URL('../../docs/scaling.md', import.meta.url);

const at = conditions();
await withRun(Number(options.rounds ?? 12), async (run) => {
  const measured = await measureParts(run);
  const objections = run.objections();
  const parts: Parts = { conditions: at, objections, ...measured };
  process.stdout.write(`\n${capacitySection(parts)}\n\n${run.pairTable()}\n`);
  const before = existsSync(FILE) ? (JSON.parse(readFileSync(FILE, 'utf8')) as Parts) : undefined;
  if (options['no-report']) return;
  if (objections.length > 0) {
    process.exitCode = 1;
    process.stdout.write(`\nThe machine was busy:\n${objections.map((line) => `- ${line}\n`).join('')}`);
    if (before?.objections.length === 0) return void process.stdout.write('The figures of an idle machine are kept.\n');
  }
  writeFileSync(FILE, `${JSON.stringify(parts, undefined, 2)}\n`);
  writeFileSync(PAGE, withCapacity(readFileSync(PAGE, 'utf8'), parts));
});
