import { timeline } from './history.ts';
import type { Outcome } from './simulate.ts';

/** What many schedules have shown together. */
export interface Total {
  schedules: number;
  readonly interleavings: Set<string>;
  readonly situations: Map<string, number>;
  readonly broken: number[];
}

export function newTotal(): Total {
  return { schedules: 0, interleavings: new Set(), situations: new Map(), broken: [] };
}

export function addTo(total: Total, { seed, coverage, violations }: Outcome): void {
  total.schedules += 1;
  total.interleavings.add(coverage.interleaving);
  for (const one of coverage.situations) total.situations.set(one, (total.situations.get(one) ?? 0) + 1);
  if (violations.length > 0) total.broken.push(seed);
}

export function addAll(total: Total, other: Total): void {
  total.schedules += other.schedules;
  for (const one of other.interleavings) total.interleavings.add(one);
  for (const [name, count] of other.situations) total.situations.set(name, (total.situations.get(name) ?? 0) + count);
  total.broken.push(...other.broken);
}

export function describeTotal({ schedules, interleavings, situations, broken }: Total): string {
  const seen = [...situations]
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, count]) => `  ${String(count).padStart(7)}  ${name}`);
  return [
    `${schedules} schedules, ${interleavings.size} different orders of their commits, ${broken.length} broken`,
    ...seen,
    ...(broken.length === 0 ? [] : [`Broken: ${broken.slice(0, 20).join(' ')}`]),
  ].join('\n');
}

/** A failing schedule, for people. */
export function describeFailure({ seed, plan, history, violations }: Outcome): string {
  return [
    `Seed ${seed}: ${plan.actions.length} actions, ${plan.faults.length} faults, ${plan.durable ? 'commits wait for the standby' : 'the standby may lag behind'}`,
    timeline(history),
    ...violations.map(({ promise, at, what }) => `${promise} is broken at ${at.toFixed(1)}: ${what}`),
  ].join('\n');
}
