import { counted } from '../../../http/amounts.ts';
import { type Html, html } from '../../../http/html.ts';
import { lastOf } from '../../../operations/record/attempts.ts';
import type { ConsoleAnswer, ConsoleRequest } from '../console-page.ts';
import { choice, filterLinks, keptFields, searchField } from '../kit/filters.ts';
import type { Times } from '../kit/times.ts';
import { pathOf, withQuery } from '../paths.ts';
import type { ConsoleSources } from '../sources.ts';
import { isOfDoctor } from './agent.ts';
import { attemptFilter, WITHIN } from './attempt-filter.ts';
import { attemptsTable } from './attempts-list.ts';
import { causeTexts } from './causes/explanation.ts';
import { type Explained, everyAttempt } from './explained.ts';
import { STATES } from './words.ts';

const PATH = pathOf('connections');
/** The most rows. Filters find the others. */
const MOST_ROWS = 200;

type Query = ConsoleRequest['query'];

/** Every attempt of the last 24 hours. Those of `coursegate doctor` are one line until they are asked for. */
export async function attemptsPage(sources: ConsoleSources, { query }: ConsoleRequest): Promise<ConsoleAnswer> {
  const all = await everyAttempt(sources);
  const wanted = all.filter(attemptFilter(query, all, sources));
  const doctor = wanted.filter(({ attempt }) => isOfDoctor(attempt));
  const listed = wanted.filter(({ attempt }) => query.doctor !== undefined || !isOfDoctor(attempt));
  const shown = listed.slice(0, MOST_ROWS);
  const body = html`${filters(query, all, sources.times)}
<p class="muted" role="status">${counted(listed.length, 'attempt')}${listed.length > shown.length && `, of which the newest ${shown.length} are shown: filter for the others`}${doctor.length > 0 && html`. ${doctorLine(doctor, query, sources.times)}`}</p>
${shown.length === 0 ? nothing(all.length) : html`<div class="card">${attemptsTable(shown, sources.times)}</div>`}`;
  return { body };
}

function filters(query: Query, all: readonly Explained[], times: Times): Html {
  const links = { path: PATH, query };
  return html`${filterLinks({ ...links, label: 'State', name: 'state', options: [['', 'All'], ...Object.entries(STATES)] })}
${filterLinks({ ...links, label: 'Time', name: 'within', options: WITHIN })}
<form class="filter narrow-fields" action="${PATH}">
${keptFields(query, ['state', 'within', 'doctor'])}
${searchField('Member', query.member, 'member')}
${searchField('App', query.app, 'app')}
${choice('cause', 'Cause', causes(all, query.cause), query.cause)}
<details${(query.from ?? query.to) !== undefined && html` open`}><summary>Between two times</summary>
<div class="filter">${timeField('from', `From (${times.zone})`, query.from)}
${timeField('to', 'To', query.to)}</div></details>
<button>Show</button>
</form>`;
}

function timeField(name: string, label: string, value = ''): Html {
  return html`<div><label for="${name}">${label}</label>
<input id="${name}" type="datetime-local" name="${name}" value="${value}"></div>`;
}

/** The causes that there are, the most frequent first. */
function causes(all: readonly Explained[], chosen = ''): Readonly<Record<string, string>> {
  const known = Map.groupBy(
    all.flatMap(({ why }) => why ?? []),
    ({ id }) => id,
  );
  const found = [...known].toSorted(([, a], [, b]) => b.length - a.length);
  const asked = known.has(chosen) ? undefined : causeTexts().get(chosen);
  return {
    '': 'All',
    ...(asked && { [chosen]: `${asked.title} (0)` }),
    ...Object.fromEntries(found.map(([id, some]) => [id, `${some[0]?.title} (${some.length})`])),
  };
}

function doctorLine(doctor: readonly Explained[], query: Query, times: Times): Html {
  const [newest] = doctor;
  const isShown = query.doctor !== undefined;
  const href = withQuery(PATH, { ...query, doctor: isShown ? '' : 'shown' });
  return html`${counted(doctor.length, 'attempt')} of coursegate doctor${newest && html`, the last ${times.ago(lastOf(newest.attempt).at)}`}: <a href="${href}">${isShown ? 'Hide' : 'Show'}</a>`;
}

function nothing(all: number): Html {
  return all === 0
    ? html`<p class="card muted">No app has tried to connect in the last 24 hours. Try it with <code>coursegate connect URL</code>.</p>`
    : html`<p class="card muted">No attempt fits. <a href="${PATH}">Show all</a></p>`;
}
