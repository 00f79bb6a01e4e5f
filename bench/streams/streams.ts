import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Goal, goalRows } from '../support/goals.ts';
import { conditions, report, table } from '../support/report.ts';
import { runStreams } from './trial.ts';

const { values: options } = parseArgs({
  options: {
    /** Each stream needs two descriptors in the gate, and one each in the clients and the upstream. */
    streams: { type: 'string', default: '9000' },
    note: { type: 'string', default: '' },
    'no-report': { type: 'boolean', default: false },
  },
});
const streams = Number(options.streams);
const folder = mkdtempSync(join(tmpdir(), 'coursegate-streams-'));
const at = conditions();
const say = (line: string) => void process.stderr.write(`${line}\n`);
const outcome = await runStreams({ streams, grants: 20, folder, seconds: 10, say }).finally(() =>
  rmSync(folder, { recursive: true, force: true }),
);
const { opened, ticks, each, beside, revoked, storm, descriptors, refused } = outcome;
const rows = [
  ['streams opened', `${streams} in ${opened.toFixed(1)} s`],
  ['ticks received', `${ticks.heard} of ${ticks.sent}`],
  [
    'plain requests at the same time',
    `p50 ${beside.p50.toFixed(1)} ms, p99 ${beside.p99.toFixed(1)} ms of ${beside.requests}`,
  ],
  [
    'one grant of twenty revoked',
    `${revoked.ended} of its ${revoked.streams} streams ended within ${revoked.took.toFixed(1)} s, and ${revoked.others} of others`,
  ],
  [
    'all streams reset at once',
    `${storm.streams} open again after ${storm.took.toFixed(1)} s; plain requests: p99 ${storm.beside.p99.toFixed(1)} ms, ${storm.beside.others.length} of ${storm.beside.requests} not 200`,
  ],
  ['responses that were not streams', JSON.stringify(refused)],
  ['descriptors', `${descriptors.before} before, ${descriptors.open} with all, ${descriptors.after} after`],
];
const goals: Goal[] = [
  { what: 'memory per stream', most: 60, unit: ' KiB', measured: each },
  { what: 'p99 of plain requests at the same time', most: 50, unit: ' ms', measured: beside.p99 },
  { what: 'recovery after all streams are reset', most: 15, unit: ' s', measured: storm.took },
  { what: 'lost ticks', most: 0, unit: '', measured: ticks.sent - ticks.heard },
  {
    what: 'failed plain requests',
    most: 0,
    unit: '',
    measured: beside.others.length + storm.beside.others.length,
  },
  { what: 'leaked descriptors', most: 0, unit: '', measured: Math.max(0, descriptors.after - descriptors.before) },
];
const text = `${at}${options.note === '' ? '' : ` ${options.note}`}

\`npm run bench:streams\`: event streams of members through one gate on the embedded store, in one process. Clients and upstream
are two more processes on the same CPUs. Every second, each stream gets an event, while plain requests are sent one after another.

${table(['', ''], rows)}

${table(['goal', 'at most', 'measured', ''], goalRows(goals))}
`;
if (options['no-report']) process.stdout.write(text);
else report('Streams', text);
