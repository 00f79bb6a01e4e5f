import { counted } from '../../../http/amounts.ts';
import { html } from '../../../http/html.ts';
import { factOf } from '../../../operations/record/attempt.ts';
import { lastOf } from '../../../operations/record/attempts.ts';
import { pathOf, withQuery } from '../paths.ts';
import type { Explained } from '../recorder/explained.ts';
import { formatCount } from '../traffic/figures.ts';
import { BOUNDS, OWN_DECISIONS } from './bounds.ts';
import { type Concern, warn } from './concern.ts';

const HOUR = 3_600_000;

/** Whether apps that named themselves stopped on their way in the last hour, other than by the will of a member. */
export function stoppedConcern(all: readonly Explained[], now: number): Concern | undefined {
  const recent = all.filter(({ attempt }) => now - lastOf(attempt).at < HOUR);
  const stopped = recent.filter(({ state }) => state === 'stopped');
  const named = recent.filter(({ attempt }) => factOf(attempt, 'clientId') !== undefined);
  const faults = named.filter(
    ({ state, why }) => state === 'stopped' && why !== undefined && !OWN_DECISIONS.has(why.id),
  );
  const { share, least } = BOUNDS.stopped;
  if (faults.length < least || faults.length < share * named.length) return undefined;
  const titles = Map.groupBy(faults, ({ why }) => why?.title ?? '');
  const [often = ['', []]] = [...titles].toSorted(([, a], [, b]) => b.length - a.length);
  const members = new Set(faults.flatMap(({ attempt }) => factOf(attempt, 'member') ?? [])).size;
  const whom = members > 0 && ` (${counted(members, 'member')})`;
  const [title, { length }] = often;
  return warn(
    html`${formatCount(stopped.length)} attempts to connect stopped in the last hour${whom}; most often: ${title.charAt(0).toLowerCase()}${title.slice(1)} (${length}).`,
    { path: withQuery(pathOf('connections'), { state: 'stopped', within: 'hour' }), name: 'Connections' },
  );
}
