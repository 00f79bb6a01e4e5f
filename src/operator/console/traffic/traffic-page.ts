import { type Html, html } from '../../../http/html.ts';
import { countOf, namesIn, requestsIn } from '../../../operations/record/minute.ts';
import type { ConsoleAnswer, ConsoleRequest } from '../console-page.ts';
import { choices } from '../kit/choices.ts';
import { table } from '../kit/table.ts';
import type { Times } from '../kit/times.ts';
import { pathOf, withQuery } from '../paths.ts';
import type { ConsoleSources } from '../sources.ts';
import { axisOf, renderFigure } from './figure.ts';
import { allFigures, formatCount, formatSeconds, percent, responseTimes } from './figures.ts';
import { type Period, type PeriodName, readPeriod } from './period.ts';

export const HOUR = pathOf('traffic');
export const DAY = withQuery(HOUR, { span: 'day' });

export async function trafficPage(
  { traffic, clock, times }: ConsoleSources,
  { query }: ConsoleRequest,
): Promise<ConsoleAnswer> {
  const span = query.span === 'day' ? 'day' : 'hour';
  const period = await readPeriod(traffic, span, clock());
  const shown = isEmpty(period)
    ? nothingYet(span)
    : html`${notices(period)}${totals(period)}${figures(period, times)}${numbers(period, times)}`;
  const spans = choices('Period', [
    { href: HOUR, text: 'Last hour', chosen: span === 'hour' },
    { href: DAY, text: 'Last 24 hours', chosen: span === 'day' },
  ]);
  return { body: html`${spans}${shown}<p class="muted">Times are in the time zone ${times.zone}.</p>` };
}

function figures(period: Period, times: Times): Html {
  const axis = axisOf(period, times);
  return html`<div class="figures flow">${allFigures(period).map((one) => renderFigure(one, axis))}${upstreams(period)}</div>`;
}

/** What the charts show, for those who do not see them, with the way to each time in the history. */
function numbers(period: Period, times: Times): Html {
  const { labels, paths } = axisOf(period, times);
  const rows = period.slots.map(({ minute }, at) => {
    const [half, most] = responseTimes(minute);
    const counts = (['refused', 'failed'] as const).map((outcome) => minute && countOf(minute, 'requests', outcome));
    const all = [minute && requestsIn(minute), ...counts].map((count) =>
      count === undefined ? '–' : formatCount(count),
    );
    const long = [half, most].map((one) => (one === undefined ? '–' : formatSeconds(one)));
    return html`<tr><th scope="row"><a href="${paths[at]}">${labels[at]}</a></th>${[...all, ...long].map((cell) => html`<td>${cell}</td>`)}</tr>\n`;
  });
  return html`<details class="figure"><summary>Numbers, and the history of each time</summary>
${table({
  label: 'Numbers',
  className: 'numbers',
  columns: ['Time', 'Requests', 'Refused', 'Failed', 'p50', 'p99'],
  rows: rows.toReversed(),
})}</details>`;
}

export function isEmpty({ slots }: Period): boolean {
  return slots.every(({ minute }) => minute === undefined);
}

export function nothingYet(span: PeriodName): Html {
  return span === 'hour'
    ? html`<p class="notice calm">Nothing has been measured yet. The first figures appear when the gate has run for a full minute.</p>`
    : html`<p class="notice calm">Nothing has been measured yet. The first figures appear when the gate has run for ten minutes; the <a href="${HOUR}">last hour</a> has them after a minute.</p>`;
}

export function notices({ complete }: Period): Html {
  if (complete) return html``;
  return html`<p class="notice">The store is unavailable: only what this process has measured since its start is shown.</p>`;
}

/** The figures at a glance. */
export function totals(period: Period): Html {
  const { sum, slots } = period;
  const total = requestsIn(sum);
  const last = slots.findLast(({ minute }) => minute !== undefined)?.minute;
  const open = (kind: string) => (last === undefined ? 0 : countOf(last, 'open', kind));
  const [half, most] = responseTimes(sum);
  const share = (outcome: string): string => {
    const count = countOf(sum, 'requests', outcome);
    return count === 0 ? '0' : `${formatCount(count)} (${percent(count / total)})`;
  };
  const entry = (name: string, value: string) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
  return html`<dl class="totals">${entry('Requests', formatCount(total))}${entry('Refused', share('refused'))}${entry('Failed', share('failed'))}${entry('Response time p50', half === undefined ? '–' : formatSeconds(half))}${entry('Response time p99', most === undefined ? '–' : formatSeconds(most))}${entry('Open streams', formatCount(open('sse') + open('websocket')))}</dl>`;
}

function upstreams({ sum }: Period): Html {
  const rows = [...namesIn(sum, 'upstreams')].toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (rows.length === 0) return html``;
  return html`<section class="figure" aria-labelledby="upstreams"><h3 id="upstreams">Upstreams</h3>
<p class="muted">Until the head of the response, with the calls that the gate makes itself</p>
${table({
  label: { by: 'upstreams' },
  className: 'numbers',
  columns: ['Upstream', 'Responses', 'p50', 'p99'],
  rows: rows.map(([name, count]) => {
    const [half = 0, most = 0] = responseTimes(sum, `upstream ${name}`);
    return html`<tr><th scope="row">${name}</th><td>${formatCount(count)}</td><td>${formatSeconds(half)}</td><td>${formatSeconds(most)}</td></tr>`;
  }),
})}</section>`;
}
