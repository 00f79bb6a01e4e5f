import { type Html, html } from '../../../http/html.ts';
import { countOf, namesIn, requestsIn } from '../../../operations/record/minute.ts';
import type { ConsoleAnswer, ConsoleRequest } from '../console-page.ts';
import { choices } from '../kit/filters.ts';
import { figureColumn, listTable } from '../kit/table.ts';
import { pathOf, withQuery } from '../paths.ts';
import type { ConsoleSources } from '../sources.ts';
import { type Axis, axisOf, renderFigure } from './figure.ts';
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
  const axis = axisOf(period, times);
  const shown = isEmpty(period)
    ? nothingYet(span)
    : html`${notices(period)}${totals(period)}${figures(period, axis)}${numbers(period, axis)}`;
  const spans = choices('Period', [
    { href: HOUR, text: 'Last hour', chosen: span === 'hour' },
    { href: DAY, text: 'Last 24 hours', chosen: span === 'day' },
  ]);
  return { body: html`${spans}${shown}<p class="muted">Times are in the time zone ${times.zone}.</p>` };
}

function figures(period: Period, axis: Axis): Html {
  return html`<div class="figures flow">${allFigures(period).map((one) => renderFigure(one, axis))}${upstreams(period)}</div>`;
}

/** What the charts show, for those who do not see them, with the way to each time in the history. */
function numbers({ slots }: Period, { labels, paths }: Axis): Html {
  const rows = slots.map(({ minute }, at) => ({ minute, label: labels[at], path: paths[at] }));
  return html`<details class="figure"><summary>Numbers, and the history of each time</summary>
${listTable<(typeof rows)[number]>({
  label: 'Numbers',
  columns: [
    { title: 'Time', cell: ({ path, label }) => html`<a href="${path}">${label}</a>` },
    figureColumn('Requests', ({ minute }) => formatCount(minute && requestsIn(minute))),
    figureColumn('Refused', ({ minute }) => formatCount(minute && countOf(minute, 'requests', 'refused'))),
    figureColumn('Failed', ({ minute }) => formatCount(minute && countOf(minute, 'requests', 'failed'))),
    figureColumn('p50', ({ minute }) => formatSeconds(responseTimes(minute)[0])),
    figureColumn('p99', ({ minute }) => formatSeconds(responseTimes(minute)[1])),
  ],
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
export function totals({ sum, slots }: Period): Html {
  const total = requestsIn(sum);
  const last = slots.findLast(({ minute }) => minute !== undefined)?.minute;
  const open = (kind: string) => (last === undefined ? 0 : countOf(last, 'open', kind));
  const [half, most] = responseTimes(sum);
  const share = (outcome: string): string => {
    const count = countOf(sum, 'requests', outcome);
    return count === 0 ? '0' : `${formatCount(count)} (${percent(count / total)})`;
  };
  const entries = [
    ['Requests', formatCount(total)],
    ['Refused', share('refused')],
    ['Failed', share('failed')],
    ['Response time p50', formatSeconds(half)],
    ['Response time p99', formatSeconds(most)],
    ['Open streams', formatCount(open('sse') + open('websocket'))],
  ];
  return html`<dl class="totals">${entries.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

function upstreams({ sum }: Period): Html {
  const rows = [...namesIn(sum, 'upstreams')].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return html`${
    rows.length > 0 &&
    html`<section class="figure" aria-labelledby="upstreams"><h3 id="upstreams">Upstreams</h3>
<p class="muted">Until the head of the response, with the calls that the gate makes itself</p>
${listTable<readonly [name: string, count: number]>({
  label: { by: 'upstreams' },
  columns: [
    { title: 'Upstream', cell: ([name]) => name },
    figureColumn('Responses', ([, count]) => formatCount(count)),
    figureColumn('p50', ([name]) => formatSeconds(responseTimes(sum, `upstream ${name}`)[0])),
    figureColumn('p99', ([name]) => formatSeconds(responseTimes(sum, `upstream ${name}`)[1])),
  ],
  rows,
})}</section>`
  }`;
}
