import { counted } from '../../../http/counted.ts';
import { type Html, html } from '../../../http/html.ts';
import type { Audit } from '../../../operations/audit.ts';
import type { Observation } from '../../../operations/observe/observations.ts';
import type { ObservedReport, Observer } from '../../../operations/observe/observer.ts';
import { confirmation } from '../confirmation.ts';
import type { ConsoleAnswer, ConsoleRequest, ConsoleRoute } from '../console-route.ts';
import { facts } from '../facts.ts';
import type { Times } from '../times.ts';
import { type ChangedLine, type Configuration, createProposals, type Draft, type NotWritten } from './proposal.ts';

export interface ObserveOptions {
  /** Undefined when routes are enforced. */
  readonly observer: Pick<Observer, 'report' | 'yaml'> | undefined;
  readonly configuration: Configuration;
  readonly audit: Audit;
  readonly times: Times;
}

const PATH = '/console/observe';
/** What the gate would have answered with an error. The rest is served, or passed to the site in either mode. */
const REFUSED = ['no_token', 'unknown_token', 'method_not_allowed', 'spelling'] as const;
/** Rows of the table: those that were requested most. */
const MOST_ROWS = 100;

export function observeRoutes({ observer, configuration, audit, times }: ObserveOptions): readonly ConsoleRoute[] {
  const proposals = observer && createProposals(configuration, observer);
  const page = (title: string, body: Html): ConsoleAnswer => ({ section: 'observe', title, body });
  const off = () => page('Observe mode', switchedOff());
  return [
    {
      method: 'GET',
      path: '/observe',
      run: async () => (observer === undefined ? off() : page('Observe mode', observedPage(observer, times))),
    },
    {
      method: 'GET',
      path: '/observe/accept',
      run: async ({ query, csrf }) => {
        if (proposals === undefined) return off();
        const enforces = query.enforce === 'yes';
        const drafted = await proposals.draft(enforces);
        return page('Accept the proposed routes', draftPage(drafted, { enforces, csrf, configuration }));
      },
    },
    {
      method: 'POST',
      path: '/observe/accept',
      run: async ({ form, decision }: ConsoleRequest) => {
        if (proposals === undefined) return off();
        const accepted = await proposals.accept(form.draft ?? '');
        if ('refused' in accepted) return page('Nothing was written', refusal(accepted));
        audit({ action: 'routes_accepted', ...decision });
        const { config, file } = configuration.loaded;
        const loads = config.reload.watch ? 'The gate loads it now.' : 'Send SIGHUP to the gate to load it.';
        return { see: PATH, done: `${counted(accepted.routes, 'route')} written to ${file}. ${loads}` };
      },
    },
  ];
}

function switchedOff(): Html {
  return html`<p>The gate enforces its routes. In observe mode, it passes requests that <code>routes</code> would refuse to the site unchanged and counts them. From what it counts it proposes routes, which you can accept here. Use it to find out which routes apps need.</p>
<p>To switch it on, add this to the configuration. Routes to the site are then not enforced.</p>
<pre class="code" tabindex="0" role="region" aria-label="Configuration">enforcement: { mode: observe }</pre>
<p class="muted">It needs <code>site</code>. See docs/quickstart.md.</p>`;
}

function observedPage(observer: Pick<Observer, 'report' | 'yaml'>, times: Times): Html {
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
<p><a class="button go" href="${PATH}/accept">Accept ${counted(routes.length, 'route')}</a></p>`
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
<div class="scroll" role="region" tabindex="0" aria-labelledby="observed"><table class="numbers observed"><thead><tr><th scope="col">Request</th><th scope="col">Count</th><th scope="col">Signed in</th><th scope="col">Would be refused</th><th scope="col">Responses</th></tr></thead>
<tbody>${rows.map(
    (one) =>
      html`<tr><th scope="row"><code>${one.method === '*' ? '' : `${one.method} `}${one.pattern}</code></th><td>${one.requests}</td><td>${one.signedIn}</td><td>${wouldRefuse(one)}</td><td>${statusesOf(one)}</td></tr>`,
  )}</tbody></table></div>`;
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

interface DraftView {
  readonly enforces: boolean;
  readonly csrf: string;
  readonly configuration: Configuration;
}

function draftPage(drafted: Draft | NotWritten, { enforces, csrf, configuration }: DraftView): Html {
  const link = (isEnforcing: boolean, text: string) =>
    html`<li><a href="${PATH}/accept${isEnforcing && '?enforce=yes'}"${isEnforcing === enforces && html` aria-current="page"`}>${text}</a></li>`;
  const choice = html`<nav aria-label="What to write"><ul class="spans">${link(false, 'Go on observing')}${link(true, 'Enforce the routes')}</ul></nav>`;
  if ('refused' in drafted) return html`${choice}${refusal(drafted)}`;
  const { changes, warnings, id, routes } = drafted;
  const { file } = configuration.loaded;
  return html`${choice}
<p>${
    enforces
      ? 'Observe mode ends: from now on, requests that the routes refuse are refused.'
      : 'The gate goes on observing with the new routes. Look at what they would refuse before you enforce them.'
  }</p>
<p>The file <code>${file}</code> is changed as follows. The result has been checked. Routes that stay keep their comments.</p>
<div class="diff" tabindex="0" role="region" aria-label="Changes">${changes.map(changeLine)}</div>
${warnings.length > 0 && html`<h2>Warnings</h2><ul>${warnings.map((warning) => html`<li>${warning}</li>`)}</ul>`}
${confirmation({
  csrf,
  action: `${PATH}/accept`,
  back: PATH,
  button: `Write ${counted(routes, 'route')}${enforces ? ' and enforce them' : ''}`,
  danger: enforces,
  fields: { draft: id },
})}`;
}

/** Lines that stay are not shown: they may be beside secrets. */
function changeLine(change: ChangedLine): Html {
  if (change.kind === 'kept') return html`<p class="kept">${counted(change.lines, 'line')} unchanged</p>`;
  const { kind, line } = change;
  return kind === 'added'
    ? html`<p><ins><span aria-hidden="true">+ </span>${line}</ins></p>`
    : html`<p><del><span aria-hidden="true">− </span>${line}</del></p>`;
}

function refusal({ refused, problems = [] }: NotWritten): Html {
  return html`<p class="notice bad">${refused}</p>
${problems.length > 0 && html`<pre class="code" tabindex="0" role="region" aria-label="Problems">${problems.join('\n')}</pre>`}
<p><a href="${PATH}">Back to observe mode</a></p>`;
}

function sumOf(observed: readonly Observation[], of: (one: Observation) => number): number {
  return observed.reduce((sum, one) => sum + of(one), 0);
}
