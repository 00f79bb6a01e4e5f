import type { EventsState } from '../../../events/state.ts';
import { type Html, html } from '../../../http/html.ts';
import type { ConsoleAnswer, ConsoleRequest } from '../console-page.ts';
import { facts } from '../kit/facts.ts';
import { figureColumn, listTable } from '../kit/table.ts';
import type { Times } from '../kit/times.ts';
import { pathOf } from '../paths.ts';
import type { ConsoleSources } from '../sources.ts';

const CLASSES: readonly (readonly [name: string, text: string])[] = [
  ['grant', 'about connections'],
  ['client', 'about apps'],
  ['refusal', 'about refused requests'],
];

export async function eventsPage({ events, times }: ConsoleSources, { csrf }: ConsoleRequest): Promise<ConsoleAnswer> {
  const state = await events();
  return { body: state === undefined ? notConfigured() : stateOf(state, times, csrf) };
}

function notConfigured(): Html {
  return html`<p>The gate can tell your backend which app acts for which member: who approved, what ended and why, and what was refused. It is not configured to, so nothing is sent.</p>
<p>To switch it on, add this to the configuration, with an endpoint of your backend that verifies the signature:</p>
<pre class="code" tabindex="0" role="region" aria-label="Configuration">events:
  upstream: school                  # a name in upstreams
  path: /coursegate/events
  secret: { env: EVENTS_SECRET }    # echo "whsec_$(openssl rand -base64 32)"</pre>
<p>Then run <code>coursegate events test --config FILE</code>, which sends one event and says what came back. The page docs/events.md describes the events.</p>`;
}

function stateOf(state: EventsState, times: Times, csrf: string): Html {
  const { upstream, path, pending, paused_until, stopped_at, last_failure, events } = state;
  const moment = (iso: string) => times.moment(Date.parse(iso));
  const total = Object.values(pending).reduce((sum, count) => sum + count, 0);
  const oldest = events.map(({ timestamp }) => timestamp).toSorted()[0];
  const split = CLASSES.filter(([name]) => (pending[name] ?? 0) > 0).map(([name, text]) => `${pending[name]} ${text}`);
  return html`${
    stopped_at !== undefined &&
    html`<p class="notice bad">Delivery has stopped since ${moment(stopped_at)}: the backend answered 410 Gone. It goes on when you retry.</p>`
  }${facts([
    ['Sent to', `${path} of ${upstream}`],
    ['Pending', total === 0 ? 'none: the backend has accepted everything' : `${total}: ${split.join(', ')}`],
    ['Oldest', oldest && moment(oldest)],
    ['Last failed delivery', last_failure && html`${moment(last_failure.at)}: ${last_failure.reason}`],
    ['Next attempt', paused_until && moment(paused_until)],
  ])}
${
  total > 0 &&
  html`<form method="post" action="${pathOf('events', 'retry')}"><input type="hidden" name="csrf" value="${csrf}"><button class="go">Retry now</button></form>
<h2 id="pending">Pending events</h2>
${total > events.length && html`<p class="muted">The ${events.length} most important of ${total}.</p>`}
${listTable<EventsState['events'][number]>({
  label: { by: 'pending' },
  columns: [
    { title: 'Type', cell: ({ type }) => html`<code>${type}</code>` },
    { title: 'Since', cell: ({ timestamp }) => times.dayAndTime(Date.parse(timestamp)) },
    figureColumn('Attempts', ({ attempts }) => attempts),
    { title: 'Next attempt', phone: 'Next', cell: ({ due_at }) => (due_at === undefined ? 'in turn' : moment(due_at)) },
    { title: 'ID', cell: ({ id }) => html`<code>${id}</code>` },
  ],
  rows: events,
})}`
}`;
}
