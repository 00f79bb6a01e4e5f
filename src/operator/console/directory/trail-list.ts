import { type Html, html } from '../../../http/html.ts';
import { type Subject, TRAIL_DAYS } from '../../../operations/record/trail.ts';
import { aboutOf, actionOf, isAlert } from '../history/audit-line.ts';
import { trailList } from '../kit/trail.ts';
import type { Sources } from '../sources.ts';

const LINES = 50;

/** The section with the newest audit lines about one member, app or grant. */
export async function trailSection({ trail, times }: Sources<'trail' | 'times'>, subject: Subject): Promise<Html> {
  const lines = await trail.of(subject, LINES);
  const items = lines.map((line) => ({
    head: html`${times.moment(line.at)} <strong>${actionOf(line)}</strong>${isAlert(line) && html` <span class="badge bad">alert</span>`}`,
    about: aboutOf(line, subject),
  }));
  return html`<section class="card"><h2>What happened</h2>
${
  lines.length === 0
    ? html`<p class="muted">No audit lines in the last ${TRAIL_DAYS} days.</p>`
    : html`${trailList(items)}
<p class="muted small">${lines.length === LINES && `The newest ${LINES}. `}Kept for ${TRAIL_DAYS} days. The audit log has every line.</p>`
}</section>`;
}
