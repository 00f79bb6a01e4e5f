import { type Html, html } from '../../../http/html.ts';
import { requestsIn } from '../../../operations/record/minute.ts';
import type { Times } from '../kit/times.ts';
import type { Explained } from '../recorder/explained.ts';
import { formatCount, formatSeconds, responseTimes } from '../traffic/figures.ts';
import type { Period } from '../traffic/period.ts';
import { isEmpty } from '../traffic/traffic-page.ts';
import { type Concern, warn } from './concern.ts';
import type { GateStatus } from './gate-status.ts';
import { stoppedConcern, trafficConcerns } from './hour-concerns.ts';
import { stateConcerns } from './state-concerns.ts';

/** What the verdict is about. Undefined: it could not be read. */
export interface GateFindings {
  readonly status: GateStatus;
  readonly period: Period | undefined;
  readonly attempts: readonly Explained[] | undefined;
}

/** Everything beyond the bounds, the worst first. `now` is in milliseconds. */
export function concernsOf({ status, period, attempts }: GateFindings, times: Times, now: number): readonly Concern[] {
  const loginIsDown = status.upstreams.some(({ breaker, uses }) => uses.signIn && breaker !== 'closed');
  const all = [
    ...stateConcerns(status, times, now),
    ...(period === undefined ? [UNREAD.traffic] : trafficConcerns(period, times, loginIsDown)),
    attempts === undefined ? UNREAD.attempts : stoppedConcern(attempts, now),
  ];
  return all.filter((one) => one !== undefined).toSorted((a, b) => a.level.localeCompare(b.level));
}

const UNREAD = {
  traffic: warn(
    html`The traffic of the last hour cannot be read, so refusals and failures may go unseen. The log says why.`,
  ),
  attempts: warn(html`Attempts to connect cannot be read, so those that stopped may go unseen. The log says why.`),
};

/** What needs attention first; green only if nothing is beyond the bounds and there was something to measure. */
export function verdict(findings: GateFindings, times: Times, now: number): Html {
  const concerns = concernsOf(findings, times, now);
  if (concerns.length > 0)
    return html`<ul class="concerns" aria-label="Needs attention">
${concerns.map(({ level, text, see }) => html`<li class="notice ${level}">${text}${see && html` <a href="${see.path}">${see.name}</a>`}</li>\n`)}</ul>`;
  const { period } = findings;
  const well = 'The store, the keys and the upstreams work.';
  if (period === undefined || isEmpty(period))
    return html`<p class="notice calm">Nothing has been measured yet: the first figures appear after a full minute. ${well}</p>`;
  const requests = requestsIn(period.sum);
  if (requests === 0) return html`<p class="notice calm">No request came in the last hour. ${well}</p>`;
  const [, longest] = responseTimes(period.sum);
  return html`<p class="notice good">Everything works. In the last hour, ${requests === 1 ? 'one request was' : `${formatCount(requests)} requests were`} answered${longest !== undefined && `, 99 of 100 within ${formatSeconds(longest)}`}.</p>`;
}
