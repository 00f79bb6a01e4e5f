import type { EventClient } from '../../events/event.ts';
import { type Html, html } from '../../http/html.ts';
import { appsPath, type DisconnectTarget } from '../connected-apps/target.ts';
import { type AppFilter, appOrder, appSearch } from './app-filter.ts';
import { appRow, type ConnectedAppRow } from './app-row.ts';
import type { Dates } from './dates.ts';
import { fold } from './fold.ts';
import { type MemberPage, titled } from './layout.ts';
import { accountLine, type SignOutForm } from './sign-out.ts';
import type { Words } from './words.ts';

export interface AppsView {
  readonly account: string;
  /** Undefined if the gate cannot end the sign-in. */
  readonly signOut: SignOutForm | undefined;
  /** What the member has just disconnected. */
  readonly done: DisconnectTarget['kind'] | undefined;
  /** The number of all connected apps. */
  readonly total: number;
  readonly apps: readonly ConnectedAppRow[];
  /** Undefined for a list that is short enough without. */
  readonly filter: AppFilter | undefined;
  /** Which of the apps that were asked for this page shows, and the links to the pages around it. */
  readonly range: Readonly<Record<'first' | 'last' | 'count', number>>;
  readonly previous: string | undefined;
  readonly next: string | undefined;
  /** The page that confirms disconnecting all apps. */
  readonly disconnectAll: string;
}

/** The connected apps of a member, with links to disconnect them and to the page about each. */
export function appsPage(words: Words, dates: Dates, view: AppsView): MemberPage {
  const body = html`${view.done !== undefined && html`<p class="notice proof" role="status">${words.html(`apps.done.${view.done}`)}</p>`}
${accountLine(words, view.account, view.signOut)}
${view.total === 0 ? html`<p>${words.html('apps.none')}</p><p class="muted">${words.html('apps.none.text')}</p>` : listed(words, dates, view)}`;
  return titled(words, 'apps', body, 'apps.title', 'apps.heading');
}

function listed(words: Words, dates: Dates, view: AppsView): Html {
  const { filter, range, apps, total } = view;
  const isPart = filter?.asked.show !== undefined || filter?.asked.q !== undefined;
  return html`<p>${words.html('apps.text')}</p>
${filter && appSearch(words, filter)}
${filter && apps.length > 0 && html`<div class="over"><p class="muted">${words.html('apps.range', range)}</p>${appOrder(words, filter)}</div>`}
${
  apps.length === 0
    ? html`<p role="status">${words.html('apps.search.none')}</p>`
    : html`<ul class="apps">
${apps.map((app) => appRow(words, dates, app))}</ul>`
}
${(view.previous !== undefined || view.next !== undefined) && pager(words, view)}
${isPart && html`<p class="up"><a href="${appsPath({ ...filter?.asked, show: undefined, q: undefined })}">${words.html('apps.all')}</a></p>`}
${!isPart && total > 1 && html`<p class="actions"><a class="button danger quiet" href="${view.disconnectAll}">${words.html('apps.disconnect.all')}</a></p>`}
<p class="fine">${words.html('apps.zone', { zone: dates.zone })}</p>`;
}

function pager(words: Words, { previous, next, range }: AppsView): Html {
  return html`<nav class="pager" aria-label="${words.text('apps.pages')}">
${previous !== undefined && html`<a href="${previous}" rel="prev">${words.html('apps.previous')}</a>`}
<span class="muted">${words.html('apps.range', range)}</span>
${next !== undefined && html`<a href="${next}" rel="next">${words.html('apps.next')}</a>`}
</nav>`;
}

export interface DisconnectView {
  /** What to disconnect; `connection` is one of several connections of an app. */
  readonly what: DisconnectTarget['kind'];
  /** The app's name, if it is still registered. */
  readonly name: string | undefined;
  /** If all are to be disconnected: how many there are, and what some of them, the first, say about themselves. */
  readonly all: { readonly count: number; readonly apps: readonly Pick<EventClient, 'name' | 'host'>[] } | undefined;
  /** The form's address and its fields. */
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly cancel: string;
}

/** Confirms a disconnection. */
export function disconnectPage(words: Words, view: DisconnectView): MemberPage {
  const app = view.name ?? words.text('apps.gone');
  const phrase = `apps.ask.${view.what}` as const;
  return {
    id: 'disconnect',
    title: words.text(phrase, { app }),
    body: html`
<h1>${words.html(phrase, { app })}</h1>
${view.all && appNames(words, view.all)}
<p>${words.html(`${phrase}.text`)}</p>
<form method="post" action="${view.action}">
${Object.entries(view.fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<div class="actions">
<a class="button" href="${view.cancel}">${words.html('apps.keep')}</a>
<button type="submit" class="danger">${words.html('apps.confirm')}</button>
</div>
</form>`,
  };
}

/** Names shown by default; the others are in a `details` element. */
const NAMED = 6;

/** With its host, since two apps may call themselves the same. */
function appNames(words: Words, { count, apps }: NonNullable<DisconnectView['all']>): Html {
  const items = apps.map(
    ({ name, host }) =>
      html`<li>${name === undefined ? words.html('apps.gone') : html`<bdi>${name}</bdi>`}${host && html` <small><bdi>${host}</bdi></small>`}</li>`,
  );
  const { shown, rest } = fold(items, NAMED);
  const more = (number: number) => words.html('apps.others', { count: number });
  const unnamed = count - apps.length;
  return html`<p>${words.count('apps.ask.these', count)}</p>
<ul>${shown}</ul>
${rest.length > 0 && html`<details><summary>${more(rest.length + unnamed)}</summary><ul>${rest}${unnamed > 0 && html`<li>${more(unnamed)}</li>`}</ul></details>`}`;
}

/** Shown when a member returns from the course site without having signed in. A redirect would loop, so they choose. */
export function appsSignInPage(words: Words, signIn: string): MemberPage {
  const body = html`<p>${words.html('apps.sign-in')}</p>
<p class="actions"><a class="button go" href="${signIn}">${words.html('login.go')}</a></p>`;
  return titled(words, 'apps-sign-in', body, 'login.title', 'login.heading');
}
