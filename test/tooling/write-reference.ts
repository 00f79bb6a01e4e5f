/**
 * Writes the generated docs: the command reference, the index of decisions, and the tables of presets, of scaling and of goals.
 * `npm run reference`
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type Parts, withCapacity } from '../../bench/capacity/model.ts';
import { resultsPage } from '../../bench/support/report.ts';
import { commandPages } from './command-reference.ts';
import { decisionIndex } from './decision-index.ts';
import { withPresets } from './preset-table.ts';

const file = (name: string) => new URL(`../../docs/${name}`, import.meta.url);
rmSync(file('reference/commands'), { recursive: true, force: true });
mkdirSync(file('reference/commands'));
for (const [name, text] of await commandPages()) writeFileSync(file(`reference/commands/${name}`), text);
writeFileSync(file('decisions/README.md'), decisionIndex());

const presets = new URL('../../integrations/README.md', import.meta.url);
writeFileSync(presets, withPresets(readFileSync(presets, 'utf8')));

const parts = readFileSync(new URL('../../bench/capacity/parts.json', import.meta.url), 'utf8');
const scaling = file('scaling.md');
writeFileSync(scaling, withCapacity(readFileSync(scaling, 'utf8'), JSON.parse(parts) as Parts));

const results = new URL('../../bench/RESULTS.md', import.meta.url);
const history = readFileSync(new URL('../../bench/history.json', import.meta.url), 'utf8');
writeFileSync(results, resultsPage(readFileSync(results, 'utf8'), JSON.parse(history)));
