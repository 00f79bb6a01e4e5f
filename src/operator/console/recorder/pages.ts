import { GatewayError } from '../../../errors.ts';
import { type Html, html } from '../../../http/html.ts';
import { factOf } from '../../../operations/record/attempt.ts';
import { lastOf } from '../../../operations/record/attempts.ts';
import type { ConsoleAnswer, ConsolePanel, ConsoleRequest, ConsoleRoute } from '../console-route.ts';
import type { Times } from '../times.ts';
import { attemptPage } from './attempt-page.ts';
import { badge } from './badge.ts';
import { type Explained, type Explaining, explainedAttempts } from './explained.ts';
import { appName, kindName, STATES } from './words.ts';

const PATH = '/console/connections';
const PAGE = 50;
const ON_FIRST_PAGE = 5;

/** The pages of the connection recorder. */
export function recorderRoutes(parts: Explaining): readonly ConsoleRoute[] {
  return [
    { method: 'GET', path: '/connections', run: (request) => list(parts, request) },
    { method: 'GET', path: '/connections/:id', run: (request) => one(parts, request) },
  ];
}

/** The latest attempts that stopped, for the first page. */
export function recorderPanel(parts: Explaining): ConsolePanel {
  return {
    title: 'Attempts to connect that stopped',
    async render() {
      const stopped = (await explainedAttempts(parts)).filter(({ state }) => state === 'stopped');
      if (stopped.length === 0) return html`<p class="muted">None in the last 24 hours.</p>`;
      return html`${table(stopped.slice(0, ON_FIRST_PAGE), parts.times)}
<p class="more"><a href="${PATH}?state=stopped">All that stopped (${stopped.length})</a></p>`;
    },
  };
}

async function list(parts: Explaining, { query }: ConsoleRequest): Promise<ConsoleAnswer> {
  const { state = '', app = '', page = '1' } = query;
  const all = await explainedAttempts(parts);
  const wanted = all.filter(
    (explained) => (state === '' || explained.state === state) && isOfApp(explained, app.trim().toLowerCase()),
  );
  const number = Math.max(1, Math.min(Number.parseInt(page, 10) || 1, Math.ceil(wanted.length / PAGE) || 1));
  const shown = wanted.slice((number - 1) * PAGE, number * PAGE);
  const body = html`<p>How apps tried to connect in the last 24 hours: what they asked for, in which order, and where they stopped.</p>
${filter(state, app)}
${shown.length === 0 ? nothing(all.length) : table(shown, parts.times)}
${pager({ state, app }, number, Math.ceil(wanted.length / PAGE))}`;
  return { section: 'connections', title: 'Connections', body };
}

async function one(parts: Explaining, { params }: ConsoleRequest): Promise<ConsoleAnswer> {
  const found = (await explainedAttempts(parts)).find(({ attempt }) => attempt.id === params.id);
  if (found === undefined)
    throw new GatewayError('not_found', {
      message: 'This attempt is not kept any more: attempts are kept for 24 hours.',
    });
  return { section: 'connections', title: appName(found.attempt), body: attemptPage(found, parts) };
}

function isOfApp({ attempt }: Explained, text: string): boolean {
  return (
    text === '' ||
    appName(attempt).toLowerCase().includes(text) ||
    factOf(attempt, 'clientId')?.toLowerCase().includes(text) === true
  );
}

function filter(state: string, app: string): Html {
  const option = (value: string, name: string) =>
    html`<option value="${value}"${value === state && html` selected`}>${name}</option>`;
  return html`<form class="filter" action="${PATH}">
<div><label for="state">State</label>
<select id="state" name="state">${option('', 'All')}${Object.entries(STATES).map(([value, name]) => option(value, name))}</select></div>
<div><label for="app">App</label>
<input type="search" id="app" name="app" value="${app}" maxlength="200"></div>
<button>Show</button>
</form>`;
}

function nothing(all: number): Html {
  return all === 0
    ? html`<p class="card muted">No app has tried to connect in the last 24 hours. Try it with <code>coursegate connect URL</code>.</p>`
    : html`<p class="card muted">No attempt fits. <a href="${PATH}">Show all</a></p>`;
}

function pager(query: Readonly<Record<string, string>>, page: number, pages: number): Html | undefined {
  if (pages <= 1) return undefined;
  const to = (wanted: number) => `${PATH}?${new URLSearchParams({ ...query, page: String(wanted) })}`;
  return html`<nav class="pager" aria-label="Pages">
${page > 1 && html`<a href="${to(page - 1)}" rel="prev">Newer</a>`}
<span>Page ${page} of ${pages}</span>
${page < pages && html`<a href="${to(page + 1)}" rel="next">Older</a>`}
</nav>`;
}

function table(shown: readonly Explained[], times: Times): Html {
  return html`<div class="scroll"><table class="attempts">
<thead><tr><th scope="col">App</th><th scope="col">State</th><th scope="col">Cause</th><th scope="col">Member</th><th scope="col">Last step</th></tr></thead>
<tbody>${shown.map((explained) => row(explained, times))}</tbody>
</table></div>`;
}

function row(explained: Explained, times: Times): Html {
  const { attempt, state, at, why } = explained;
  const member = factOf(attempt, 'member');
  return html`<tr>
<th scope="row"><a href="${PATH}/${attempt.id}">${appName(attempt)}</a></th>
<td>${badge(state)}${state === 'connected' || state === 'ended' ? undefined : html`<br><span class="muted">${kindName(at.kind)}</span>`}</td>
<td>${why?.title}</td>
<td>${member !== undefined && html`<a href="/console/members/${encodeURIComponent(member)}">${member}</a>`}</td>
<td class="when">${times.ago(lastOf(attempt).at)}</td>
</tr>`;
}
