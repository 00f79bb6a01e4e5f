import { max, min } from 'd3-array';
import { scaleLinear, scaleLog } from 'd3-scale';
import { line } from 'd3-shape';
import { type Html, html } from '../../../http/html.ts';
import type { TimeTick } from '../kit/times.ts';

/** A line of a chart. Its style tells lines apart by colour and by dashes. */
export interface Line {
  readonly name: string;
  readonly style: LineStyle;
  /** One value for each slot; undefined: not measured, or there is none. */
  readonly values: readonly (number | undefined)[];
  /** For the legend, such as the total. */
  readonly total: string;
}

/** Whether there is anything to draw. */
export const hasValues = ({ values }: Line): boolean => values.some((value) => value !== undefined && value > 0);

export interface Chart {
  /** Unique on the page. */
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly lines: readonly Line[];
  /** Whether a slot was measured. */
  readonly measured: readonly boolean[];
  /** Ticks of the time axis, with their place as a part of its length. */
  readonly ticks: readonly (Omit<TimeTick, 'at'> & { readonly place: number })[];
  /** Counts start at 0. Durations (in seconds) are drawn on a logarithmic scale, because a few are a hundred times longer. */
  readonly scale: 'count' | 'seconds';
  readonly format: (value: number) => string;
}

const DASHES = { 1: 'none', 2: '7 4', 3: '2 3', 4: '12 4 2 4', 5: '4 2', 6: '14 5' } as const;

export type LineStyle = keyof typeof DASHES;

/** The coordinates of the drawing. It is stretched to the size of the page, and its strokes are not. */
const SIZE = 1000;
/** The height of the smallest column. */
const LEAST = 80;

/**
 * Draws lines over time as SVG. The stylesheet gives it its size and colours. Labels have their places in percent, and
 * only the drawing is stretched, so that text is as large on a phone as on a desktop.
 */
export function drawLines(chart: Chart): Html {
  const { id, title, description, lines, ticks, format } = chart;
  const { y, levels } = verticalScale(chart);
  const down = (value: number) => percent(y(value) / SIZE);
  return html`<svg class="chart" role="img" aria-labelledby="${id}-title" aria-describedby="${id}-text">
<title id="${id}-title">${title}</title><desc id="${id}-text">${description}</desc>
<g class="levels">${levels.map(
    (level) =>
      html`<line x1="0" x2="100%" y1="${down(level)}" y2="${down(level)}"/><text x="-8" y="${down(level)}" dy=".35em" text-anchor="end">${format(level)}</text>`,
  )}</g>
${timeAxis(ticks)}
<svg width="100%" height="100%" viewBox="0 0 ${SIZE} ${SIZE}" preserveAspectRatio="none" overflow="visible">${gaps(chart.measured)}${lines.map((one) => drawLine(one, y))}</svg>
</svg>`;
}

/** Draws one series as columns. Every value above 0 is visible, however small beside `top`, the value of a full column. */
export function drawColumns(
  { name, values }: Line,
  {
    measured,
    top,
    description,
  }: { readonly measured: readonly boolean[]; readonly top: number; readonly description: string },
): Html {
  const step = SIZE / values.length;
  const columns = values.flatMap((value, at) => {
    if (value === undefined || value === 0) return [];
    const height = Math.max(LEAST, (value / top) * SIZE);
    return [`M${round((at + 0.1) * step)},${SIZE}v${-round(height)}h${round(0.8 * step)}v${round(height)}z`];
  });
  return html`<svg class="columns" role="img" aria-label="${name}. ${description}" viewBox="0 0 ${SIZE} ${SIZE}" preserveAspectRatio="none"><title>${name}</title><desc>${description}</desc>${gaps(measured)}<path d="${columns.join('')}"/></svg>`;
}

/** A slot of a chart that is a link. */
interface SlotLink {
  readonly href: string;
  /** Shown to those who point at it. */
  readonly title: string;
}

/**
 * Draws links over the slots of a chart, for the mouse and for fingers: by keyboard there would be hundreds. The table of the
 * page has the same links.
 */
export function drawSlots(slots: readonly (SlotLink | undefined)[]): Html {
  const links = slots.map(
    (slot, at) =>
      slot !== undefined &&
      html`<a href="${slot.href}" tabindex="-1"><title>${slot.title}</title><rect x="${at}" width="1" height="1"/></a>`,
  );
  return html`<svg class="slots" aria-hidden="true" viewBox="0 0 ${slots.length} 1" preserveAspectRatio="none">${links}</svg>`;
}

/** The labels of a time axis below columns. */
export function drawTimes(ticks: Chart['ticks']): Html {
  return html`<svg class="axis" aria-hidden="true">${timeAxis(ticks)}</svg>`;
}

/** The stylesheet shows every second tick only where there is room. */
function timeAxis(ticks: Chart['ticks']): Html {
  return html`<g class="times">${ticks.map(
    ({ place, label }, at) =>
      html`<g${at % 2 === 1 && html` class="wide"`}><text x="${percent(place)}" y="100%" dy="1.4em" text-anchor="middle">${label}</text></g>`,
  )}</g>`;
}

/** A line of the legend as it is drawn. */
export function lineSample(style: LineStyle): Html {
  return html`<svg class="sample" width="32" height="10" aria-hidden="true"><line class="line-${style}" x1="1" x2="31" y1="5" y2="5" stroke-dasharray="${DASHES[style]}"/></svg>`;
}

function verticalScale({ lines, scale }: Chart): { y: (value: number) => number; levels: readonly number[] } {
  const values = lines.flatMap((one) => one.values.filter((value) => value !== undefined));
  if (scale === 'count') {
    const y = scaleLinear([0, Math.max(max(values) ?? 0, 1)], [SIZE, 0]).nice(4);
    return { y, levels: y.ticks(4).filter(Number.isInteger) };
  }
  const decade = (value: number, round: (exponent: number) => number) => 10 ** round(Math.log10(value));
  const from = decade(Math.max(min(values) ?? 0.001, 0.0001), Math.floor);
  const to = Math.max(decade(max(values) ?? 0.001, Math.ceil), from * 10);
  const y = scaleLog([from, to], [SIZE, 0]).clamp(true);
  const most = Math.round(Math.log10(to / from));
  return { y, levels: y.ticks(most).filter((level) => most <= 1 || isPowerOfTen(level)) };
}

function isPowerOfTen(value: number): boolean {
  const exponent = Math.log10(value);
  return Math.abs(exponent - Math.round(exponent)) < 1e-9;
}

/** The times that no process measured. */
function gaps(measured: readonly boolean[]): readonly Html[] {
  const step = SIZE / measured.length;
  const starts = measured.flatMap((is, at) => (!is && measured[at - 1] !== false ? [at] : []));
  return starts.map((from) => {
    const to = measured.indexOf(true, from);
    const length = (to === -1 ? measured.length : to) - from;
    return html`<rect class="gap" x="${round(from * step)}" y="0" width="${round(length * step)}" height="${SIZE}"/>`;
  });
}

function drawLine({ values, style }: Line, y: (value: number) => number): Html {
  const step = SIZE / values.length;
  const x = (at: number) => (at + 0.5) * step;
  const draw = line<number | undefined>(
    (_value, at) => round(x(at)),
    (value) => round(y(value ?? 0)),
  ).defined((value) => value !== undefined);
  // A value without neighbours is a dot: a line of no length would not be drawn.
  const dots = values.flatMap((value, at) =>
    value !== undefined && values[at - 1] === undefined && values[at + 1] === undefined
      ? [`M${round(x(at))},${round(y(value))}h0`]
      : [],
  );
  return html`<path class="line-${style}" vector-effect="non-scaling-stroke" stroke-dasharray="${DASHES[style]}" d="${draw(values) ?? ''}"/>${
    dots.length > 0 && html`<path class="line-${style} dot" vector-effect="non-scaling-stroke" d="${dots.join('')}"/>`
  }`;
}

function percent(part: number): string {
  return `${Math.round(part * 10_000) / 100}%`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
