import { parseArgs } from 'node:util';
import { BENCHES } from '../benches.ts';
import { table } from '../support/report.ts';
import { bench, type Findings, OPTIONS, type Run } from '../support/run.ts';
import { estimate, ratio, shown } from '../support/statistics.ts';
import { COURSEGATE } from '../upstream/peers/coursegate.ts';
import { nginx } from '../upstream/peers/nginx.ts';
import { type EventCosts, measureEventCosts } from './event-cost.ts';
import { runStreams, type StreamsOutcome } from './trial.ts';

const { values: options } = parseArgs({
  options: {
    ...OPTIONS,
    /** Each stream needs two descriptors in the gate, and one each in the clients and the upstream. */
    streams: { type: 'string', default: '9000' },
  },
});
const STREAMS = Number(options.streams);
/** Streams of each subject while the cost of an event is measured. */
const COST_STREAMS = Math.min(1000, STREAMS);

function costTable({ atOnce, spread }: EventCosts): string {
  const rows = [...atOnce.keys()].map((name) => [
    name,
    ...[atOnce, spread].flatMap((measured) => {
      const of = (which: string) => measured.get(which)?.map(({ cpu }) => cpu);
      return [shown(estimate(of(name) ?? [])), shown(ratio(of(name), of(nginx.name)), 2)];
    }),
  ]);
  return table(['subject', 'at once, µs', 'x nginx', 'spread, µs', 'x nginx'], rows);
}

function outcomeTable(outcome: StreamsOutcome): string {
  const { opened, ticks, alone, beside, besideAtOnce, revoked, storm, descriptors, refused } = outcome;
  const timed = (one: StreamsOutcome['beside']) =>
    `p50 ${one.p50.toFixed(1)} ms, p99 ${one.p99.toFixed(1)} ms of ${one.requests}`;
  return table(
    ['', ''],
    [
      ['streams opened', `${STREAMS} in ${opened.toFixed(1)} s`],
      ['events received', `${ticks.heard} of ${ticks.sent}`],
      ['plain requests before any stream is open', timed(alone)],
      ['plain requests beside events spread over the second', timed(beside)],
      ['plain requests beside events in the same instant', timed(besideAtOnce)],
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
    ],
  );
}

await bench(BENCHES.streams, options, async (run: Run): Promise<Findings> => {
  const costs = await measureEventCosts(run, COST_STREAMS);
  await run.look();
  const outcome = await runStreams({ streams: STREAMS, grants: 20, folder: run.folder, seconds: 20, say: run.say });
  const { ticks, each, beside, besideAtOnce, storm, descriptors } = outcome;
  return {
    text: `\`npm run bench -- streams\`: CPU time per event that a proxy passes on, with ${COST_STREAMS} streams at each, and five events per
stream and second.

${costTable(costs)}

Event streams of members through one gate on the embedded store, in one process, measured once. Clients and upstreams are three
more processes on the same CPUs. Every second, each stream gets an event, while plain requests are sent one after another.

${outcomeTable(outcome)}`,
    goals: {
      eventCpu: estimate(costs.atOnce.get(COURSEGATE)?.map(({ cpu }) => cpu) ?? []),
      besideSpread: beside.p99,
      idleStreamOfMany: each,
      recovery: storm.took,
      lostTicks: ticks.sent - ticks.heard,
      failedRequests: [beside, besideAtOnce, storm.beside].reduce((sum, one) => sum + one.others.length, 0),
      descriptors: Math.max(0, descriptors.after - descriptors.before),
    },
    partial: STREAMS === 9000 ? undefined : `${STREAMS} streams instead of 9000`,
  };
});
