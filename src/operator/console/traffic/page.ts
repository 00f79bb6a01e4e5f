import { type Html, html } from '../../../http/html.ts';
import { countOf, namesIn } from '../../../operations/record/minute.ts';
import type { TrafficMinutes } from '../../../operations/record/minutes.ts';
import type { Clock } from '../../../storage/store.ts';
import type { ConsolePanel, ConsoleRoute } from '../console-route.ts';
import type { Times } from '../times.ts';
import { axisOf, type Figure, renderFigure } from './figure.ts';
import { allFigures, formatCount, formatSeconds, mainFigures, responseTimes } from './figures.ts';
import { type Period, type PeriodName, readPeriod } from './period.ts';

export interface TrafficOptions {
  readonly traffic: Pick<TrafficMinutes, 'recent'>;
  readonly clock: Clock;
  readonly times: Times;
}

const PATH = '/traffic';
const LINK = '/console/traffic';

export function trafficRoutes({ traffic, clock, times }: TrafficOptions): readonly ConsoleRoute[] {
  return [
    {
      method: 'GET',
      path: PATH,
      run: async ({ query }) => {
        const span = query.span === 'day' ? 'day' : 'hour';
        const period = await readPeriod(traffic, span, clock());
        return {
          section: 'traffic',
          title: 'Traffic',
          body: html`${spans(span)}${
            isEmpty(period)
              ? nothingYet(span)
              : html`${notices(period)}${totals(period)}${figures(allFigures, period, times, upstreams(period))}`
          }<p class="muted">Times are in the time zone ${times.zone}.</p>`,
        };
      },
    },
  ];
}

export function trafficPanel({ traffic, clock, times }: TrafficOptions): ConsolePanel {
  return {
    title: 'Traffic in the last hour',
    render: async () => {
      const period = await readPeriod(traffic, 'hour', clock());
      if (isEmpty(period)) return nothingYet('hour');
      return html`${notices(period)}${totals(period)}${figures(mainFigures, period, times)}<p><a href="${LINK}">All charts</a> · <a href="${LINK}?span=day">Last 24 hours</a></p>`;
    },
  };
}

function figures(make: (period: Period) => readonly Figure[], period: Period, times: Times, more?: Html): Html {
  const axis = axisOf(period, times);
  return html`<div class="figures">${make(period).map((one) => renderFigure(one, axis))}${more}</div>`;
}

function isEmpty({ slots }: Period): boolean {
  return slots.every(({ minute }) => minute === undefined);
}

function nothingYet(span: PeriodName): Html {
  return span === 'hour'
    ? html`<p class="notice">Nothing has been measured yet. The first figures appear when the gate has run for a full minute.</p>`
    : html`<p class="notice">Nothing has been measured yet. The first figures appear when the gate has run for ten minutes; the <a href="${LINK}">last hour</a> has them after a minute.</p>`;
}

function notices({ complete }: Period): Html {
  if (complete) return html``;
  return html`<p class="notice">The store is unavailable: only what this process has measured since its start is shown.</p>`;
}

function spans(current: PeriodName): Html {
  const link = (span: PeriodName, href: string, text: string) =>
    html`<li><a href="${href}"${span === current && html` aria-current="page"`}>${text}</a></li>`;
  return html`<nav aria-label="Period"><ul class="spans">${link('hour', LINK, 'Last hour')}${link('day', `${LINK}?span=day`, 'Last 24 hours')}</ul></nav>`;
}

/** The figures at a glance. */
function totals(period: Period): Html {
  const { sum, slots } = period;
  const total = [...namesIn(sum, 'requests').values()].reduce((all, count) => all + count, 0);
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

function percent(part: number): string {
  return part < 0.0001 ? 'under 0.01%' : `${Number((part * 100).toPrecision(2))}%`;
}

function upstreams({ sum }: Period): Html {
  const rows = [...namesIn(sum, 'upstreams')].toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (rows.length === 0) return html``;
  return html`<section class="figure" aria-labelledby="upstreams"><h3 id="upstreams">Upstreams</h3>
<p class="muted">Until the head of the response, with the calls that the gate makes itself</p>
<div class="scroll" role="region" tabindex="0" aria-labelledby="upstreams"><table class="numbers"><thead><tr><th scope="col">Upstream</th><th scope="col">Responses</th><th scope="col">p50</th><th scope="col">p99</th></tr></thead>
<tbody>${rows.map(([name, count]) => {
    const [half = 0, most = 0] = responseTimes(sum, `upstream ${name}`);
    return html`<tr><th scope="row">${name}</th><td>${formatCount(count)}</td><td>${formatSeconds(half)}</td><td>${formatSeconds(most)}</td></tr>`;
  })}</tbody></table></div></section>`;
}
