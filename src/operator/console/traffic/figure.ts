import { type Html, html } from '../../../http/html.ts';
import { MINUTE } from '../../../operations/record/minute.ts';
import { pathOfTime } from '../history/range.ts';
import type { Times } from '../kit/times.ts';
import { type Chart, drawColumns, drawLines, drawSlots, drawTimes, hasValues, type Line, lineSample } from './chart.ts';
import type { Period } from './period.ts';

/** A chart with its heading and legend. Its slots lead to their minutes in the history. */
export interface Figure extends Pick<Chart, 'id' | 'title' | 'lines' | 'scale' | 'format'> {
  /** What is shown, in a few words below the title. */
  readonly text: string;
  /** `lines` share one chart; `columns` have a row each, for events that are rare. */
  readonly shape: 'lines' | 'columns';
  /** Shown instead of a chart in which nothing happened. */
  readonly none: string;
}

export type Axis = ReturnType<typeof axisOf>;

const LAST = { hour: 'in the last hour', day: 'in the last 24 hours' } as const;
/** Minutes between the ticks of a chart. */
const TICKS = { hour: 10, day: 180 } as const;

/** A period with its labels. */
export function axisOf(period: Period, times: Times) {
  const { slots, span, step } = period;
  const from = slots[0]?.at ?? 0;
  const length = slots.length * step * MINUTE;
  return {
    period,
    from: times.dayAndTime(from),
    to: times.dayAndTime(from + length),
    /** The beginning of each slot. */
    labels: slots.map(({ at }) => (span === 'hour' ? times.time(at) : times.dayAndTime(at))),
    /** Where the history of each slot is shown: five minutes before and after, which are the ten of a slot of the day. */
    paths: slots.map(({ at }) => pathOfTime(at + Math.floor(step / 2) * MINUTE, times)),
    measured: slots.map(({ minute }) => minute !== undefined),
    ticks: times
      .ticks(from, from + length, TICKS[span])
      .map(({ at, label }) => ({ label, place: (at - from) / length })),
  };
}

export function renderFigure(figure: Figure, axis: Axis): Html {
  const { id, title, text, lines, none, shape } = figure;
  return html`<section class="figure" aria-labelledby="${id}"><h3 id="${id}">${title}</h3>
${
  lines.some(hasValues)
    ? html`<p class="muted">${text}</p>
${shape === 'lines' ? lineChart(figure, axis) : rows(figure, axis)}`
    : html`<p class="muted">${none} ${LAST[axis.period.span]}.</p>`
}</section>`;
}

/** A chart of lines with its legend. */
function lineChart(figure: Figure, axis: Axis): Html {
  const { id, title, lines } = figure;
  const { from, to } = axis;
  const description = lines.map((line) => `${line.name}: ${line.total}, ${highest(line, figure, axis)}.`).join(' ');
  return html`<div class="plot">${drawLines({ ...figure, ...axis, id: `${id}-chart`, title: `${title}, ${from} to ${to}`, description })}${slots(lines, figure, axis)}</div>
<ul class="legend">${lines.map(
    ({ name, style, total }) => html`<li>${lineSample(style)} ${name} <b>${total}</b></li>`,
  )}${gapSample(axis)}</ul>`;
}

function rows(figure: Figure, axis: Axis): Html {
  const { measured, ticks } = axis;
  const top = Math.max(...figure.lines.flatMap(({ values }) => values.map((value) => value ?? 0)));
  return html`<ul class="series">${figure.lines.map((line) => {
    const description = `${line.total}, ${highest(line, figure, axis)}`;
    return html`<li><span>${line.name}</span> ${drawColumns(line, { measured, top, description })}${slots([line], figure, axis)} <b>${line.total}</b></li>`;
  })}<li>${drawTimes(ticks)}</li></ul>
<p class="muted">The tallest column is ${figure.format(top)}.</p>${
    measured.includes(false) && html`<ul class="legend">${gapSample(axis)}</ul>`
  }`;
}

function gapSample({ measured }: Axis): Html | false {
  return measured.includes(false) && html`<li><span class="sample gap"></span> Not measured</li>`;
}

/** What the drawing shows, for those who do not see it. */
function highest({ values }: Line, { format }: Figure, { labels }: Axis): string {
  const at = values.reduce<number>((best, value, here) => ((value ?? -1) > (values[best] ?? -1) ? here : best), 0);
  const value = values[at];
  return value === undefined ? 'never measured' : `highest ${format(value)} at ${labels[at]}`;
}

/** A link over each slot in which something was measured, with its values. */
function slots(lines: readonly Line[], { format, shape }: Figure, { labels, paths }: Axis): Html {
  return drawSlots(
    paths.map((href, at) => {
      const values = lines.flatMap(({ name, values }) => {
        const value = values[at];
        return value === undefined || (shape === 'columns' && value === 0) ? [] : [`${name} ${format(value)}`];
      });
      return values.length === 0 ? undefined : { href, title: `${labels[at]}: ${values.join(', ')}` };
    }),
  );
}
