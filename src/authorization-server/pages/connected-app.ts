import { type Html, html } from '../../http/html.ts';
import { appMark } from './app-mark.ts';
import { type ConnectedAppRow, type KnownApp, type Label, nameOf, plainNameOf } from './app-row.ts';
import { type AppProof, place } from './consent.ts';
import type { Dates } from './dates.ts';
import { fold, joined } from './fold.ts';
import { type MemberPage, titled } from './layout.ts';
import { type DayUse, usageChart } from './usage-chart.ts';
import { posingWarning } from './waiting-app.ts';
import type { Words } from './words.ts';

/** The page about one connected app: what it can see and change, as sentences. Times are Unix seconds. */
export interface ConnectedApp extends Omit<ConnectedAppRow, 'details'> {
  /** The list of all apps. */
  readonly all: string;
  /** Connections that can be disconnected one by one, newest first. Only the first few are listed. */
  readonly connections: readonly Connection[];
  readonly olderConnections: number;
  readonly connectedAt: number;
  /** Whether it acts with the member's own session at the course site. */
  readonly ownSession: boolean;
  /** What it did in the last 30 days, most frequent first. */
  readonly did: Readonly<Record<'approvals' | 'changes' | 'reads', readonly AreaLine[]>>;
  /** The same by day, the oldest first. */
  readonly days: readonly DayUse[];
}

interface Connection {
  readonly connectedAt: number;
  readonly lastUsedAt: number | undefined;
  readonly disconnect: string;
}

export interface AreaLine {
  readonly label: Label;
  readonly count: number;
  /** Unix seconds. */
  readonly last: number;
}

/** Lines shown by default; the others are in a `details` element. */
const SHOWN = 8;

/** What one app can do and has done, and the links to disconnect it. */
export function connectedAppPage(words: Words, dates: Dates, shown: ConnectedApp): MemberPage {
  const { app } = shown;
  const { approvals, changes, reads } = shown.did;
  const used = approvals.length + changes.length + reads.length > 0;
  return {
    id: 'app',
    title: plainNameOf(words, app),
    body: html`
<p class="up"><a href="${shown.all}">${words.html('apps.all')}</a></p>
<div class="who">${appMark(app?.name)}<div><h1>${nameOf(words, app)}</h1>
${shown.changes.length > 0 && html`<p class="badge">${words.html('apps.row.changes')}</p>`}</div></div>
${app && appNotices(words, app)}
${facts(words, dates, shown)}
<p class="actions"><a class="button danger quiet" href="${shown.disconnect}">${words.html('apps.disconnect', { app: nameOf(words, app) })}</a></p>
<p class="muted">${words.html('apps.disconnect.text')}</p>
<section>
<h2>${words.html('apps.scopes')}</h2>
${shown.changes.length > 0 && html`<div class="changes"><h3>${words.html('apps.can.change')}</h3>${titles(words, shown.changes)}</div>`}
${shown.sees.length > 0 && html`<h3>${words.html('apps.can.see')}</h3>${titles(words, shown.sees)}`}
${shown.ownSession && html`<p class="notice">${words.html('apps.session')}</p>`}
</section>
<section>
<h2>${words.html('apps.activity')}</h2>
${used ? activity(words, dates, shown) : html`<p class="muted">${words.html('apps.nothing')}</p>`}
</section>
${shown.connections.length + shown.olderConnections > 1 && connections(words, dates, shown)}
<p class="fine">${words.html('apps.zone', { zone: dates.zone })}</p>`,
  };
}

/** The app is not connected to the member's account, or there is none. */
export function missingAppPage(words: Words, all: string): MemberPage {
  const body = html`<p><a href="${all}">${words.html('apps.all')}</a></p>`;
  return titled(words, 'app', body, 'apps.missing');
}

function facts(words: Words, dates: Dates, { app, connectedAt, redeemed, lastUsedAt, endsAt }: ConnectedApp): Html {
  const places = app?.destinations.map((one) => place(words, one)) ?? [];
  return html`<dl>
${places.length > 0 && html`<dt>${words.html('apps.destination')}</dt><dd>${joined(places, ', ')}</dd>`}
<dt>${words.html('apps.connected')}</dt><dd>${dates.moment(connectedAt)}</dd>
<dt>${words.html('apps.used')}</dt><dd>${redeemed ? used(words, dates, lastUsedAt) : words.html('apps.row.unfetched')}</dd>
${endsAt !== undefined && html`<dt>${words.html('apps.ends')}</dt><dd>${dates.day(endsAt)}</dd>`}
</dl>`;
}

function titles(words: Words, scopes: readonly Label[]): Html {
  return html`<ul>${scopes.map((title) => html`<li>${title(words)}</li>`)}</ul>`;
}

/** What is known about whose app it is: whether its domain is verified, and whose name it uses. */
export function appNotices(words: Words, { posing, proof: shown }: KnownApp): Html {
  return html`${posing && html`<p class="notice problem">${posingWarning(words, posing)}</p>`}
${!(posing && shown.kind === 'none') && proof(words, shown)}`;
}

function proof(words: Words, shown: AppProof): Html {
  if (shown.kind === 'none') return html`<p class="notice">${words.html('apps.unchecked')}</p>`;
  const host = html`<strong><bdi>${shown.host}</bdi></strong>`;
  if (shown.kind === 'claimed') return html`<p class="notice">${words.html('apps.claimed', { host })}</p>`;
  return html`<p class="notice${shown.elsewhere ? '' : ' proof'}">${words.html('consent.proved', { host })}</p>
${shown.elsewhere && html`<p class="notice problem">${words.html('apps.elsewhere')}</p>`}`;
}

function used(words: Words, dates: Dates, at: number | undefined): Html {
  return at === undefined ? words.html('apps.never') : html`${dates.ago(at)} (${dates.moment(at)})`;
}

/** Changes come first, and apart from the rest. */
function activity(words: Words, dates: Dates, { did, days }: ConnectedApp): Html {
  return html`${did.changes.length + did.reads.length > 0 && usageChart(words, dates, days)}
${did.approvals.length > 0 && html`<h3>${words.html('apps.did.approvals')}</h3>${lines(words, dates, did.approvals)}`}
${did.changes.length > 0 && html`<div class="changes"><h3>${words.html('apps.did.changes')}</h3>${lines(words, dates, did.changes)}</div>`}
${did.reads.length > 0 && html`<h3>${words.html('apps.did.reads')}</h3>${lines(words, dates, did.reads)}`}`;
}

function lines(words: Words, dates: Dates, areas: readonly AreaLine[]): Html {
  const line = ({ label, count, last }: AreaLine) => {
    const values = { area: label(words), last: dates.shortDay(last) };
    return html`<li>${count === 1 ? words.html('apps.area.once', values) : words.count('apps.area.times', count, values)}</li>
`;
  };
  const { shown, rest } = fold(areas, SHOWN);
  return html`<ul>${shown.map(line)}</ul>
${rest.length > 0 && html`<details><summary>${words.html('apps.others', { count: rest.length })}</summary><ul>${rest.map(line)}</ul></details>`}`;
}

function connections(words: Words, dates: Dates, { connections: shown, olderConnections: older }: ConnectedApp): Html {
  return html`<section>
<h2>${words.count('apps.connections', shown.length + older)}</h2>
<p class="muted">${words.html('apps.connections.text')}</p>
<ul class="connections">${shown.map(
    ({ connectedAt, lastUsedAt, disconnect }) =>
      html`<li><span>${words.html('apps.connection', { since: dates.moment(connectedAt), used: used(words, dates, lastUsedAt) })}</span>
<a class="end" href="${disconnect}">${words.html('apps.connection.disconnect', { since: dates.moment(connectedAt) })}</a></li>
`,
  )}</ul>
${older > 0 && html`<p class="muted">${words.count('apps.connections.older', older)}</p>`}
</section>`;
}
