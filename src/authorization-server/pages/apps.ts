import { type Html, html } from '../../http/html.ts';
import type { DisconnectTarget } from '../connected-apps/target.ts';
import { appRow, type ConnectedAppRow } from './app-row.ts';
import type { Dates } from './dates.ts';
import type { MemberPage } from './layout.ts';
import type { Words } from './words.ts';

export interface AppsView {
  readonly account: string;
  /** What the member has just disconnected. */
  readonly done: DisconnectTarget['kind'] | undefined;
  readonly apps: readonly ConnectedAppRow[];
  /** The total number of apps, and the links to the pages around this one. */
  readonly total: number;
  readonly previous: string | undefined;
  readonly next: string | undefined;
  /** The page that confirms disconnecting all apps. */
  readonly disconnectAll: string;
}

/** The connected apps of a member, with links to disconnect them and to the page about each. */
export function appsPage(words: Words, dates: Dates, view: AppsView): MemberPage {
  return {
    id: 'apps',
    title: words.text('apps.title'),
    body: html`
<h1>${words.html('apps.heading')}</h1>
${view.done !== undefined && html`<p class="notice proof" role="status">${words.html(`apps.done.${view.done}`)}</p>`}
<p class="account"><span>${words.html('consent.account', { account: html`<strong><bdi>${view.account}</bdi></strong>` })}</span></p>
${view.apps.length === 0 ? html`<p>${words.html('apps.none')}</p><p class="muted">${words.html('apps.none.text')}</p>` : listed(words, dates, view)}`,
  };
}

function listed(words: Words, dates: Dates, view: AppsView): Html {
  return html`<p>${words.html('apps.text')}</p>
<ul class="apps">
${view.apps.map((app) => appRow(words, dates, app))}</ul>
${(view.previous !== undefined || view.next !== undefined) && pager(words, view)}
${view.total > 1 && html`<p class="actions"><a class="button danger quiet" href="${view.disconnectAll}">${words.html('apps.disconnect.all')}</a></p>`}
<p class="muted">${words.html('apps.zone', { zone: dates.zone })}</p>`;
}

function pager(words: Words, { previous, next, total }: AppsView): Html {
  return html`<nav class="pager" aria-label="${words.text('apps.pages')}">
${previous !== undefined && html`<a href="${previous}" rel="prev">${words.html('apps.previous')}</a>`}
<span class="muted">${words.count('apps.total', total)}</span>
${next !== undefined && html`<a href="${next}" rel="next">${words.html('apps.next')}</a>`}
</nav>`;
}

export interface DisconnectView {
  /** What to disconnect; `connection` is one of several connections of an app. */
  readonly what: DisconnectTarget['kind'];
  /** The app's name, if it is still registered. */
  readonly name: string | undefined;
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

/** Shown when a member returns from the course site without having signed in. A redirect would loop, so they choose. */
export function appsSignInPage(words: Words, signIn: string): MemberPage {
  return {
    id: 'apps-sign-in',
    title: words.text('login.title'),
    body: html`
<h1>${words.html('login.heading')}</h1>
<p>${words.html('apps.sign-in')}</p>
<p class="actions"><a class="button go" href="${signIn}">${words.html('login.go')}</a></p>`,
  };
}
