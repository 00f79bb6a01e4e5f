import { scaleLinear } from 'd3-scale';
import { boundOf, GOALS, type Goal, type GoalName } from '../bench/support/goals.ts';
import { figureOf, type History, judged, pairOf, type Reading, restored } from '../bench/support/history.ts';

/** The drawing in its own pixels, and the room for its labels. */
const [WIDTH, HEIGHT] = [280, 150];
const [LEFT, RIGHT, TOP, BOTTOM] = [40, 8, 8, 26];
const SLOTS = 5;

/**
 * Draws the last runs of each goal with its bound, for the page of bench/RESULTS.md. HTML without blank lines, so that Markdown
 * takes it as one block.
 */
export function runCharts(history: History): string {
  const names = (Object.keys(GOALS) as GoalName[]).filter((name) => (history[name] ?? []).length > 0);
  if (names.length === 0) return '';
  return `<p>The last runs of each goal, the newest on the right. A line through a mark is its 95 % interval, and the dashed line is the bound, with what misses it shaded: <span class="run-key"><svg width="14" height="14" aria-hidden="true">${mark('met', 7, 7)}</svg> met</span>, <span class="run-key"><svg width="14" height="14" aria-hidden="true">${mark('missed', 7, 7)}</svg> missed</span>, <span class="run-key"><svg width="14" height="14" aria-hidden="true">${mark('not decided', 7, 7)}</svg> not decided</span>.</p>
<div class="run-charts">
${names.map((name) => figure(name, GOALS[name], history[name] ?? [])).join('\n')}
</div>`;
}

function figure(name: string, goal: Goal, runs: readonly Reading[]): string {
  const last = runs.at(-1);
  const said = last === undefined ? '' : `${boundOf(goal)}: ${judged(goal, last).verdict}`;
  return `<figure>
<figcaption>${escaped(goal.what)} <b>${escaped(said)}</b></figcaption>
${drawing(name, goal, runs)}
<details><summary>In words</summary>
<ol>
${runs.map((run) => `<li>${escaped(inWords(goal, run))}</li>`).join('\n')}
</ol>
</details>
</figure>`;
}

function inWords(goal: Goal, run: Reading): string {
  const { verdict, because } = judged(goal, run);
  const aa = run.pair === undefined ? '' : `A/A ${pairOf(run)}; `;
  const judgement = because === undefined ? verdict : `${verdict}, ${because}`;
  return `${run.date}, commit ${run.commit}: ${figureOf(goal, run)}, ${judgement}. ${aa}load ${run.load}, other processes up to ${Math.round(run.busy * 100)} % of the CPUs; ${run.machine}.`;
}

function drawing(name: string, goal: Goal, runs: readonly Reading[]): string {
  const bound = goal.most ?? goal.least ?? 0;
  const figures = runs.map(restored);
  const values = [bound, ...figures.flatMap(({ median, low, high }) => [median, low, high])].filter(Number.isFinite);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const room = (most - least || Math.abs(bound) || 1) * 0.15;
  const y = scaleLinear([least < 0 ? least - room : Math.max(0, least - room), most + room], [HEIGHT - BOTTOM, TOP])
    .nice(3)
    .clamp(true);
  const x = (at: number) => LEFT + ((at + 0.5) / SLOTS) * (WIDTH - LEFT - RIGHT);
  const height = (value: number) => round(y(Number.isFinite(value) ? value : Number.MAX_VALUE));
  const levels = y
    .ticks(3)
    .map(
      (level) =>
        `<line class="level" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${height(level)}" y2="${height(level)}"/><text x="${LEFT - 6}" y="${height(level)}" dy=".35em" text-anchor="end">${level.toLocaleString('en')}</text>`,
    );
  const beyond =
    goal.most === undefined
      ? `y="${height(bound)}" height="${round(HEIGHT - BOTTOM - y(bound))}"`
      : `y="${TOP}" height="${round(y(bound) - TOP)}"`;
  const marks = figures.map(({ median, low, high }, at) => {
    const run = runs[at] as Reading;
    const interval = Number.isNaN(low)
      ? ''
      : `<line class="interval" x1="${x(at)}" x2="${x(at)}" y1="${height(low)}" y2="${height(high)}"/>`;
    const date = `<text x="${x(at)}" y="${HEIGHT - 8}" text-anchor="middle">${shortDate(run.date)}</text>`;
    return `${interval}${mark(judged(goal, run).verdict, x(at), height(median))}${date}`;
  });
  const text = runs.map((run) => `${run.date} ${figureOf(goal, run)} ${judged(goal, run).verdict}`).join('; ');
  return `<svg role="img" aria-labelledby="run-${name}-title run-${name}-text" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}"><title id="run-${name}-title">${escaped(goal.what)}, ${escaped(boundOf(goal))}</title><desc id="run-${name}-text">${escaped(text)}</desc><rect class="beyond" x="${LEFT}" width="${WIDTH - LEFT - RIGHT}" ${beyond}/>${levels.join('')}<line class="bound" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${height(bound)}" y2="${height(bound)}"/>${marks.join('')}</svg>`;
}

/** Told apart by shape, too: a disc, a square and a ring. */
function mark(verdict: string, x: number, y: number): string {
  if (verdict === 'missed')
    return `<rect class="mark missed" x="${round(x - 4)}" y="${round(y - 4)}" width="8" height="8"/>`;
  return `<circle class="mark ${verdict === 'met' ? 'met' : 'open'}" cx="${round(x)}" cy="${round(y)}" r="4.5"/>`;
}

function shortDate(date: string): string {
  return new Date(date).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
