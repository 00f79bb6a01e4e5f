import { counted } from '../../../http/amounts.ts';
import { type Html, html } from '../../../http/html.ts';
import type { Observation } from '../../../operations/observe/observations.ts';
import type { Observer } from '../../../operations/observe/observer.ts';
import type { ObservedReport } from '../../../operations/observe/report.ts';
import type { ConsoleAnswer } from '../console-page.ts';
import { facts } from '../kit/facts.ts';
import { figureColumn, listTable } from '../kit/table.ts';
import type { Times } from '../kit/times.ts';
import { pathOf } from '../paths.ts';
import type { ConsoleSources } from '../sources.ts';

/** What the gate would have answered with an error. The rest is served, or passed to the site in either mode. */
const REFUSED = ['no_token', 'unknown_token', 'method_not_allowed', 'spelling'] as const;
/** Rows of the table: those that were requested most. */
const MOST_ROWS = 100;

export async function observePage({ observer, times }: ConsoleSources): Promise<ConsoleAnswer> {
  return observer === undefined ? switchedOff() : { body: reportOf(observer, times) };
}

/** The page while routes are enforced. */
export function switchedOff(): ConsoleAnswer {
  const body = html`<p>The gate enforces its routes. In observe mode, it passes requests that <code>routes</code> would refuse to the site unchanged and counts them. From what it counts it proposes routes, which you can accept here. Use it to find out which routes apps need.</p>
<p>To switch it on, add this to the configuration. Routes to the site are then not enforced.</p>
<pre class="code" tabindex="0" role="region" aria-label="Configuration">enforcement: { mode: observe }</pre>
<p class="muted">It needs <code>site</code>. See docs/quickstart.md.</p>`;
  return { title: 'Observe mode', body };
}

function reportOf(observer: Pick<Observer, 'report' | 'yaml'>, times: Times): Html {
  const report = observer.report();
  const { since, quietSince, dropped, observed, routes, notes } = report;
  const requests = sumOf(observed, (one) => one.requests);
  const refused = sumOf(observed, wouldRefuse);
  return html`<p class="notice">Routes to the site are not enforced: requests that they would refuse are passed to the site.</p>
${
  quietSince !== undefined &&
  html`<p class="notice bad">No request for the site has arrived since ${times.moment(quietSince.getTime())}. Is the web server sending everything to the gate, and not only its own addresses?</p>`
}${facts([
  ['Observed since', times.moment(since.getTime())],
  ['Requests', requests.toLocaleString('en-GB')],
  ['Would be refused', refused.toLocaleString('en-GB')],
  ['Not recorded', dropped > 0 && dropped.toLocaleString('en-GB')],
])}
<h2>Proposed routes</h2>
${
  routes.length === 0
    ? html`<p>None yet. Use the site for a while, with every part of it that apps should reach.</p>`
    : html`<p>The proposal leaves out what was not used in this time, and includes everything that was used, wanted or not. Read it before you accept it.</p>
<p><a class="button go" href="${pathOf('observe', 'accept')}">Accept ${counted(routes.length, 'route')}</a></p>`
}
<pre class="code" tabindex="0" role="region" aria-label="Proposed routes as YAML">${observer.yaml()}</pre>
${notes.length > 0 && html`<h2>Left out, or worth a look</h2><ul>${notes.map((note) => html`<li>${note}</li>`)}</ul>`}
${observed.length > 0 && requestsTable(report)}
<p class="muted">This replica counts on its own.</p>`;
}

function requestsTable({ observed }: ObservedReport): Html {
  const rows = observed.toSorted((a, b) => b.requests - a.requests).slice(0, MOST_ROWS);
  return html`<h2 id="observed">Requests</h2>
${observed.length > rows.length && html`<p class="muted">The ${rows.length} most frequent of ${observed.length}. <code>coursegate observed --json</code> has all.</p>`}
${listTable<Observation>({
  label: { by: 'observed' },
  columns: [
    {
      title: 'Request',
      cell: ({ method, pattern }) => html`<code>${method === '*' ? '' : `${method} `}${pattern}</code>`,
      isWide: true,
    },
    figureColumn('Count', ({ requests }) => requests),
    figureColumn('Signed in', ({ signedIn }) => signedIn),
    figureColumn('Would be refused', wouldRefuse),
    figureColumn('Responses', statusesOf),
  ],
  rows,
})}`;
}

function wouldRefuse({ refusals }: Observation): number {
  return REFUSED.reduce((sum, kind) => sum + (refusals.get(kind) ?? 0), 0);
}

function statusesOf({ statuses }: Observation): string {
  return [...statuses]
    .toSorted(([a], [b]) => a - b)
    .map(([status, count]) => `${status === 0 ? 'cut off' : status} × ${count}`)
    .join(', ');
}

function sumOf(observed: readonly Observation[], of: (one: Observation) => number): number {
  return observed.reduce((sum, one) => sum + of(one), 0);
}
