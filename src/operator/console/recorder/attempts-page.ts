import { type Html, html } from '../../../http/html.ts';
import { factOf } from '../../../operations/record/attempt.ts';
import { lastOf } from '../../../operations/record/attempts.ts';
import type { ConsoleAnswer, ConsolePanel, ConsoleRequest } from '../console-page.ts';
import { choice, searchField } from '../kit/filter-fields.ts';
import { table } from '../kit/table.ts';
import type { Times } from '../kit/times.ts';
import { pathOf, pathOfMember, withQuery } from '../paths.ts';
import type { Sources } from '../sources.ts';
import { badge } from './badge.ts';
import { type Explained, type Explaining, explainedAttempts } from './explained.ts';
import { appName, kindName, STATES } from './words.ts';

const PATH = pathOf('connections');
const PAGE = 50;
const ON_FIRST_PAGE = 5;

/** The latest attempts that stopped, for the first page. */
export const stoppedPanel: ConsolePanel = {
  title: 'Attempts to connect that stopped',
  async render(sources) {
    const stopped = (await explainedAttempts(sources)).filter(({ state }) => state === 'stopped');
    if (stopped.length === 0) return html`<p class="muted">None in the last 24 hours.</p>`;
    return html`${attempts(stopped.slice(0, ON_FIRST_PAGE), sources.times)}
<p class="more"><a href="${PATH}?state=stopped">All that stopped (${stopped.length})</a></p>`;
  },
};

export async function attemptsPage(
  sources: Explaining & Sources<'times'>,
  { query }: ConsoleRequest,
): Promise<ConsoleAnswer> {
  const { state = '', app = '', page = '1' } = query;
  const all = await explainedAttempts(sources);
  const wanted = all.filter(
    (explained) => (state === '' || explained.state === state) && isOfApp(explained, app.trim().toLowerCase()),
  );
  const pages = Math.ceil(wanted.length / PAGE);
  const number = Math.max(1, Math.min(Number.parseInt(page, 10) || 1, pages || 1));
  const shown = wanted.slice((number - 1) * PAGE, number * PAGE);
  const body = html`<p>How apps tried to connect in the last 24 hours: what they asked for, in which order, and where they stopped.</p>
<form class="filter" action="${PATH}">
${choice('state', 'State', { '': 'All', ...STATES }, state)}
${searchField('App', app, 'app')}
<button>Show</button>
</form>
${shown.length === 0 ? nothing(all.length) : attempts(shown, sources.times)}
${pager({ state, app }, number, pages)}`;
  return { body };
}

function isOfApp({ attempt }: Explained, text: string): boolean {
  return (
    text === '' ||
    appName(attempt).toLowerCase().includes(text) ||
    factOf(attempt, 'clientId')?.toLowerCase().includes(text) === true
  );
}

function nothing(all: number): Html {
  return all === 0
    ? html`<p class="card muted">No app has tried to connect in the last 24 hours. Try it with <code>coursegate connect URL</code>.</p>`
    : html`<p class="card muted">No attempt fits. <a href="${PATH}">Show all</a></p>`;
}

function pager(query: Readonly<Record<string, string>>, page: number, pages: number): Html | undefined {
  if (pages <= 1) return undefined;
  const to = (wanted: number) => withQuery(PATH, { ...query, page: String(wanted) });
  return html`<nav class="pager" aria-label="Pages">
${page > 1 && html`<a href="${to(page - 1)}" rel="prev">Newer</a>`}
<span>Page ${page} of ${pages}</span>
${page < pages && html`<a href="${to(page + 1)}" rel="next">Older</a>`}
</nav>`;
}

function attempts(shown: readonly Explained[], times: Times): Html {
  return table({
    label: 'Attempts to connect',
    className: 'attempts',
    columns: ['App', 'State', 'Cause', 'Member', 'Last step'],
    rows: shown.map((explained) => row(explained, times)),
  });
}

function row(explained: Explained, times: Times): Html {
  const { attempt, state, at, why } = explained;
  const member = factOf(attempt, 'member');
  return html`<tr>
<th scope="row"><a href="${pathOf('connections', attempt.id)}">${appName(attempt)}</a></th>
<td>${badge(state)}${state === 'connected' || state === 'ended' ? undefined : html`<br><span class="muted">${kindName(at.kind)}</span>`}</td>
<td>${why?.title}</td>
<td>${member !== undefined && html`<a href="${pathOfMember(member)}">${member}</a>`}</td>
<td class="when">${times.ago(lastOf(attempt).at)}</td>
</tr>`;
}
