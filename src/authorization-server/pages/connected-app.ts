import type { Translatable } from '../../config/pages.ts';
import { type Html, type HtmlValue, html } from '../../http/html.ts';
import { type AppProof, type Destination, place } from './consent.ts';
import type { Dates } from './dates.ts';
import type { Phrase, Words } from './words.ts';

/** What is known about an app that a member has connected. */
export interface KnownApp {
  /** Chosen by the app, and therefore not to be trusted. */
  readonly name: string | undefined;
  readonly posing: boolean;
  readonly proof: AppProof;
  /** Every redirect destination it has registered. */
  readonly destinations: readonly Destination[];
}

/** A connected app on the page. Times are Unix seconds. */
export interface ConnectedApp {
  /** Undefined when the app is no longer registered. Its grants are still valid. */
  readonly app: KnownApp | undefined;
  /** Connections that can be disconnected one by one, newest first. Only the first few are listed. */
  readonly connections: readonly Connection[];
  readonly olderConnections: number;
  /** Titles of its scopes. */
  readonly scopes: readonly Translatable[];
  readonly connectedAt: number;
  /** Undefined when it has never been used. */
  readonly lastUsedAt: number | undefined;
  /** The latest expiry of its connections; undefined when one never expires. */
  readonly endsAt: number | undefined;
  /** Whether it acts with the member's own session at the course site. */
  readonly ownSession: boolean;
  /** What it did in the last 30 days, most frequent first. */
  readonly areas: readonly AreaLine[];
  /** The page that confirms disconnecting it. */
  readonly disconnect: string;
}

interface Connection {
  readonly connectedAt: number;
  readonly lastUsedAt: number | undefined;
  readonly disconnect: string;
}

export interface AreaLine {
  readonly label: (words: Words) => Html;
  readonly count: number;
  /** Unix seconds. */
  readonly last: number;
}

/** Lines shown by default; the others are in a `details` element. */
const SHOWN_AREAS = 8;

/** One app on the page of connected apps. */
export function connectedApp(words: Words, dates: Dates, shown: ConnectedApp): Html {
  const { app } = shown;
  const name = app?.name ?? words.text('consent.nameless');
  return html`<li class="app">
<h2>${app === undefined ? words.html('apps.gone') : html`<bdi>${name}</bdi>`}</h2>
${app?.posing && html`<p class="notice problem">${words.html('consent.posing')}</p>`}
${app !== undefined && proof(words, app.proof)}
<dl>
${app !== undefined && app.destinations.length > 0 && html`<dt>${words.html('apps.destination')}</dt><dd>${list(app.destinations.map((one) => place(words, one)))}</dd>`}
<dt>${words.html('apps.connected')}</dt><dd>${dates.moment(shown.connectedAt)}</dd>
<dt>${words.html('apps.used')}</dt><dd>${used(words, dates, shown.lastUsedAt)}</dd>
${shown.endsAt !== undefined && html`<dt>${words.html('apps.ends')}</dt><dd>${dates.day(shown.endsAt)}</dd>`}
</dl>
<h3>${words.html('apps.scopes')}</h3>
<ul>${shown.scopes.map((scope) => html`<li>${words.own(scope)}</li>`)}</ul>
${shown.ownSession && html`<p class="notice">${words.html('apps.session')}</p>`}
<h3>${words.html('apps.activity')}</h3>
${activity(words, dates, shown.areas)}
${shown.connections.length + shown.olderConnections > 1 && connections(words, dates, shown)}
<p class="actions"><a class="button" href="${shown.disconnect}">${words.html('apps.disconnect', { app: html`<bdi>${app === undefined ? words.html('apps.gone') : name}</bdi>` })}</a></p>
</li>
`;
}

function proof(words: Words, shown: AppProof): Html {
  if (shown.kind === 'none') return html`<p class="notice">${words.html('apps.unchecked')}</p>`;
  const host = html`<strong><bdi>${shown.host}</bdi></strong>`;
  if (shown.kind === 'claimed') return html`<p class="notice">${words.html('apps.claimed', { host })}</p>`;
  return html`<p class="notice${shown.elsewhere ? '' : ' proof'}">${words.html('consent.proved', { host })}</p>
${shown.elsewhere && html`<p class="notice problem">${words.html('apps.elsewhere')}</p>`}`;
}

export function list(items: readonly HtmlValue[]): Html {
  return html`${items.map((item, at) => html`${at > 0 && ', '}${item}`)}`;
}

function used(words: Words, dates: Dates, at: number | undefined): Html {
  return at === undefined ? words.html('apps.never') : html`${dates.ago(at)} (${dates.moment(at)})`;
}

function activity(words: Words, dates: Dates, areas: readonly AreaLine[]): Html {
  if (areas.length === 0) return html`<p class="muted">${words.html('apps.nothing')}</p>`;
  const line = ({ label, count, last }: AreaLine) => {
    const phrase: Phrase = count === 1 ? 'apps.area.once' : 'apps.area.times';
    return html`<li>${words.html(phrase, { area: label(words), count: html`${count}`, last: dates.moment(last) })}</li>
`;
  };
  const rest = areas.slice(SHOWN_AREAS);
  return html`<ul class="areas">${areas.slice(0, SHOWN_AREAS).map(line)}</ul>
${rest.length > 0 && html`<details><summary>${words.html('apps.more', { count: html`${rest.length}` })}</summary><ul class="areas">${rest.map(line)}</ul></details>`}`;
}

function connections(words: Words, dates: Dates, { connections: shown, olderConnections: older }: ConnectedApp): Html {
  return html`<details><summary>${words.html('apps.connections', { count: html`${shown.length + older}` })}</summary>
<p class="muted">${words.html('apps.connections.text')}</p>
<ul class="connections">${shown.map(
    (
      one,
    ) => html`<li><span>${words.html('apps.connection', { since: dates.moment(one.connectedAt), used: used(words, dates, one.lastUsedAt) })}</span>
<a href="${one.disconnect}">${words.html('apps.connection.disconnect', { since: dates.moment(one.connectedAt) })}</a></li>
`,
  )}</ul>
${older > 0 && html`<p class="muted">${words.html('apps.connections.older', { count: html`${older}` })}</p>`}
</details>`;
}
