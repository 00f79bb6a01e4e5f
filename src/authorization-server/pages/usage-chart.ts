import { type Html, html } from '../../http/html.ts';
import type { Dates } from './dates.ts';
import type { Words } from './words.ts';

/** How often an app was used on one day: days since the epoch, in UTC. */
export interface DayUse {
  readonly day: number;
  readonly reads: number;
  readonly changes: number;
}

const WIDTH = 600;
/** The height of all bars together. */
const HEIGHT = 120;
const GAP = 5;
/** A day with a single use is visible beside one with thousands. */
const LEAST = 4;

/** A bar for each day: reads upwards from the line, changes downwards. The numbers are in a table below it. */
export function usageChart(words: Words, dates: Dates, days: readonly DayUse[]): Html {
  const [first, last] = [days[0]?.day ?? 0, days.at(-1)?.day ?? 0];
  const [reads, changes] = [Math.max(...days.map((one) => one.reads)), Math.max(...days.map((one) => one.changes))];
  const range = { first: dates.dayOfUse(first), last: dates.dayOfUse(last) };
  return html`<figure class="usage">
<svg viewBox="0 0 ${WIDTH} ${HEIGHT + 2}" role="img" aria-labelledby="usage-title usage-text" focusable="false">
<title id="usage-title">${words.text('apps.chart', range)}</title>
<desc id="usage-text">${words.text('apps.chart.text')}</desc>
${bars(days, reads, changes)}
</svg>
<div class="range" aria-hidden="true"><bdi>${range.first}</bdi> <bdi>${range.last}</bdi></div>
${changes > 0 && html`<p class="key" aria-hidden="true"><span class="reads">${words.html('apps.chart.reads')}</span> <span class="changes">${words.html('apps.chart.changes')}</span></p>`}
${table(words, dates, days, changes > 0)}
</figure>`;
}

function bars(days: readonly DayUse[], mostReads: number, mostChanges: number): Html {
  const unit = HEIGHT / Math.max(1, mostReads + mostChanges);
  const line = Math.min(HEIGHT - (mostChanges > 0 ? LEAST : 0), Math.max(mostReads > 0 ? LEAST : 0, mostReads * unit));
  const step = WIDTH / days.length;
  const bar = (kind: 'reads' | 'changes', at: number, count: number) => {
    const room = kind === 'reads' ? line : HEIGHT - line;
    const height = Math.min(room, Math.max(LEAST, count * unit));
    const top = kind === 'reads' ? line - height : line + 2;
    return (
      count > 0 &&
      html`<rect class="${kind}" x="${rounded(at * step + GAP / 2)}" y="${rounded(top)}" width="${rounded(step - GAP)}" height="${rounded(height)}" rx="2"/>`
    );
  };
  return html`<rect class="line" x="0" y="${rounded(line)}" width="${WIDTH}" height="2"/>
${days.map((one, at) => html`${bar('reads', at, one.reads)}${bar('changes', at, one.changes)}`)}`;
}

function table(words: Words, dates: Dates, days: readonly DayUse[], withChanges: boolean): Html {
  const number = new Intl.NumberFormat([...words.locales]);
  const used = days.filter(({ reads, changes }) => reads + changes > 0).toReversed();
  return html`<details><summary>${words.html('apps.chart.table')}</summary>
<table>
<thead><tr><th scope="col">${words.html('apps.chart.day')}</th><th scope="col">${words.html('apps.chart.reads')}</th>${withChanges && html`<th scope="col">${words.html('apps.chart.changes')}</th>`}</tr></thead>
<tbody>${used.map(
    ({ day, reads, changes }) =>
      html`<tr><th scope="row">${dates.dayOfUse(day)}</th><td>${number.format(reads)}</td>${withChanges && html`<td>${number.format(changes)}</td>`}</tr>
`,
  )}</tbody>
</table>
</details>`;
}

function rounded(value: number): string {
  return String(Math.round(value * 10) / 10);
}
