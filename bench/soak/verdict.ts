import { table } from '../support/report.ts';
import type { Sample } from './gate.ts';
import { type Slope, slopeOf } from './slope.ts';
import { isBack, type Outcome } from './trial.ts';

/** In MB per hour. */
const MOST_SLOPE = 1;
/** Share of requests that may fail although no process was killed. A busy machine has some. */
const MOST_TROUBLE = 0.002;

export interface Verdict {
  readonly heap: Slope;
  readonly resident: Slope;
  /** Violations; if empty, the trial has passed. For a short trial (not `sloped`), slope and failed requests do not count. */
  readonly broken: readonly string[];
}

export function judge(outcome: Outcome, sloped: boolean): Verdict {
  const { before, after, samples, began, lasted } = outcome;
  // The first third is warm-up: code is compiled, and caches fill up to their limits.
  const late = samples.filter(({ at }) => at > began + lasted / 3);
  const perHour = (value: (sample: Sample) => number) =>
    slopeOf(late.map((sample) => [(sample.at - began) / 3_600_000, value(sample) / 1e6]));
  const heap = perHour(({ heapUsed }) => heapUsed);
  const total = (map: Readonly<Record<string, number>>) => Object.values(map).reduce((sum, count) => sum + count, 0);
  const troubles = total(outcome.troubles.well);
  const broken = [
    ...(sloped && !(heap.slope < MOST_SLOPE) ? [`the heap grows by ${heap.slope.toFixed(2)} MB per hour`] : []),
    ...(isBack(after, before) ? [] : [`more objects than before: ${holds(after)}, before ${holds(before)}`]),
    ...(outcome.faultCount > 0 ? [`${outcome.faultCount} faults: ${outcome.faults.slice(0, 5).join(' | ')}`] : []),
    ...outcome.ends,
    ...(sloped && troubles > total(outcome.counts) * MOST_TROUBLE + 1
      ? [`${troubles} requests failed although no process was killed: ${JSON.stringify(outcome.troubles.well)}`]
      : []),
  ];
  return { heap, resident: perHour(({ rss }) => rss), broken };
}

/** The outcomes as a Markdown table. */
export function markdown(outcomes: readonly Outcome[], sloped: boolean): string {
  const rows = outcomes.map((outcome) => {
    const { heap, resident, broken } = judge(outcome, sloped);
    const { before, after, samples, lasted, counts, troubles, ills, checked, faultCount } = outcome;
    const used = ((samples.at(-1)?.cpu ?? 0) - (samples[0]?.cpu ?? 0)) / Math.max(1, lasted) / 10;
    const works = Object.entries(counts).filter(([name]) => name !== 'left out' && name !== 'streams heard');
    return [
      outcome.store,
      `${(lasted / 60_000).toFixed(0)} min`,
      String(works.reduce((sum, [, count]) => sum + count, 0)),
      `${heap.slope.toFixed(2)} ± ${heap.margin.toFixed(2)}`,
      `${resident.slope.toFixed(2)} ± ${resident.margin.toFixed(2)}`,
      `${mb(samples.at(-1)?.heapUsed)} (${mb(before.heapUsed)} before, ${mb(after.heapUsed)} after)`,
      `${mb(samples.at(-1)?.rss)}`,
      holds(before),
      holds(after),
      `${Object.values(troubles.ill).reduce((sum, count) => sum + count, 0)} / ${Object.values(troubles.well).reduce((sum, count) => sum + count, 0)}`,
      `${ills.length}`,
      `${checked}`,
      `${faultCount}`,
      `${used.toFixed(0)} %`,
      broken.length === 0 ? 'passed' : `**${broken.join('; ')}**`,
    ];
  });
  const heads = [
    'store',
    'load',
    'pieces of work',
    'heap, MB per hour',
    'resident, MB per hour',
    'heap at the end, MB',
    'resident, MB',
    'held before',
    'held after',
    'retried: after a kill / otherwise',
    'kills',
    'tokens checked one by one',
    'faults',
    'processor',
    '',
  ];
  // One column per trial, because there are many rows and few trials.
  const turned = heads.slice(1).map((head, at) => [head, ...rows.map((row) => row[at + 1] ?? '')]);
  return table(['', ...rows.map(([store = '']) => `on ${store}`)], turned);
}

const mb = (bytes = 0) => (bytes / 1e6).toFixed(1);

function holds({ descriptors, objects }: Sample): string {
  return `${descriptors} descriptors, ${objects?.sockets} sockets, ${objects?.timers} timers, ${objects?.requests} requests`;
}
