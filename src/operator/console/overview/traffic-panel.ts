import { type Html, html } from '../../../http/html.ts';
import type { Times } from '../kit/times.ts';
import { type Axis, axisOf, type Figure, lineChart } from '../traffic/figure.ts';
import { mainFigures } from '../traffic/figures.ts';
import type { Period } from '../traffic/period.ts';
import { DAY, HOUR, isEmpty, nothingYet, notices, totals } from '../traffic/traffic-page.ts';

/** The fewest minutes of a chart: a gate that has just started has measured no more. */
const FEWEST = 10;

/** The last hour in little room: totals, the two charts, and one line for each reason of refusals. */
export function trafficPanel(period: Period, times: Times): Html {
  if (isEmpty(period)) return nothingYet('hour');
  const axis = axisOf(sinceMeasured(period), times);
  const { lines, bars } = mainFigures(axis.period);
  return html`${notices(period)}${totals(period)}
<div class="figures">${lines.map((one) => chart(one, axis))}${barList(bars)}</div>
<p class="more"><a href="${HOUR}">All charts</a> · <a href="${DAY}">Last 24 hours</a></p>`;
}

function sinceMeasured({ slots, ...period }: Period): Period {
  const first = slots.findIndex(({ minute }) => minute !== undefined);
  return { ...period, slots: slots.slice(Math.min(first, slots.length - FEWEST)) };
}

function chart(figure: Figure, axis: Axis): Html {
  return html`<section class="figure" aria-labelledby="${figure.id}"><h3 id="${figure.id}">${figure.title}</h3>
${lineChart(figure, axis)}</section>`;
}

/** One line for each name, the most frequent first. */
function barList({ id, title, lines, none }: Figure): Html {
  const sums = lines.map(({ values }) => values.reduce<number>((sum, value) => sum + (value ?? 0), 0));
  const top = Math.max(...sums);
  const bar = (sum: number) =>
    html`<svg class="bar" aria-hidden="true"><rect width="${Math.max(1, Math.round((sum / top) * 100))}%" height="100%"/></svg>`;
  return html`<section class="figure" aria-labelledby="${id}"><h3 id="${id}">${title}</h3>
${
  lines.length === 0
    ? html`<p class="muted">${none} in the last hour.</p>`
    : html`<ul class="bars">${lines.map(({ name, total }, at) => html`<li><span>${name}</span> ${bar(sums[at] ?? 0)} <b>${total}</b></li>`)}</ul>`
}</section>`;
}
