import { type Html, html } from '../../../http/html.ts';
import { KEPT, MINUTE, minuteOf } from '../../../operations/record/minute.ts';
import { TRAIL_DAYS } from '../../../operations/record/trail.ts';
import type { ConsoleAnswer, ConsoleRequest } from '../console-page.ts';
import { choice, filterLinks, keptFields, searchField } from '../kit/filters.ts';
import type { Times } from '../kit/times.ts';
import { pathOf } from '../paths.ts';
import { minuteList } from './minute-list.ts';
import { AROUND, ASKED, type HistoryRange, neighbours, rangeOf } from './range.ts';
import { type HistorySources, readHistory } from './read-history.ts';
import { type HistoryKind, KINDS } from './rows.ts';

const PATH = pathOf('history');

/** What happened around a time, minute by minute. */
export async function historyPage(sources: HistorySources, { query }: ConsoleRequest): Promise<ConsoleAnswer> {
  const { times, clock } = sources;
  const now = clock();
  const range = rangeOf(query, times, now);
  const kind = query.kind !== undefined && query.kind in KINDS ? (query.kind as HistoryKind) : undefined;
  const [member, app] = [query.member?.trim() ?? '', query.app?.trim() ?? ''];
  const history = await readHistory(sources, range, { kind, member, app });
  const links = pager(neighbours(range, query, times, now), caption(range, times));
  const body = html`<form class="filter short" action="${PATH}#${ASKED}">
<div><label for="at">Time</label>
<input id="at" type="datetime-local" name="at" value="${times.field((range.asked ?? minuteOf(now)) * MINUTE)}" required></div>
${choice('around', 'Show', AROUND, String(range.around))}
${searchField('Member', member, 'member')}
${searchField('App', app, 'app')}
${keptFields(query, ['kind'])}
<button>Show</button>
</form>
${filterLinks({ label: 'What', name: 'kind', options: [['', 'Everything'], ...Object.entries(KINDS)], path: PATH, query })}
${!history.stored && html`<p class="notice">The store is unavailable: only what this process knows is shown.</p>`}
${!history.complete && html`<p class="notice">There are more audit lines than are shown. Choose a shorter time; the audit log has them all.</p>`}
${member + app !== '' && html`<p class="muted">Counts, which are of all members and apps together, are left out.</p>`}
${links}
${minuteList(history.minutes, {
  ...{ asked: range.asked, isOfKind: kind !== undefined, isOfOne: member + app !== '' },
  ...{ now: minuteOf(now), times },
})}
${links}
<p class="muted small">Counts and attempts are kept for ${Math.floor(KEPT / 60)} hours, audit lines for ${TRAIL_DAYS} days. Times are in the time zone ${times.zone}.</p>`;
  return { body };
}

function caption({ from, to }: HistoryRange, times: Times): string {
  const [first, last] = [times.dayAndTime(from * MINUTE), times.dayAndTime(to * MINUTE)];
  const [day] = first.split(',');
  return `${first} to ${last.startsWith(`${day},`) ? times.time(to * MINUTE) : last}`;
}

function pager({ earlier, later }: ReturnType<typeof neighbours>, shown: string): Html {
  return html`<nav class="pager" aria-label="Time"><a href="${earlier}" rel="prev">Earlier</a> <span class="muted">${shown}</span>${later !== undefined && html` <a href="${later}" rel="next">Later</a>`}</nav>`;
}
