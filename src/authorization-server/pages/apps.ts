import { type Html, html } from '../../http/html.ts';
import type { Target } from '../connected-apps/target.ts';
import { type ConnectedApp, connectedApp } from './connected-app.ts';
import type { Dates } from './dates.ts';
import type { Page } from './layout.ts';
import type { Words } from './words.ts';

export interface AppsView {
  readonly account: string;
  /** What has just been disconnected. */
  readonly done: Target['kind'] | undefined;
  readonly apps: readonly ConnectedApp[];
  /** How many apps there are in all, and the pages around this one. */
  readonly total: number;
  readonly previous: string | undefined;
  readonly next: string | undefined;
  /** The page that asks whether to disconnect all. */
  readonly disconnectAll: string;
  /** Where the school's own page is; undefined: nowhere. */
  readonly back: string | undefined;
}

/** What a member has let in, what came of it, and the way to cut it off. */
export function appsPage(words: Words, dates: Dates, view: AppsView): Page {
  return {
    id: 'apps',
    title: words.text('apps.title'),
    body: html`
<h1>${words.html('apps.heading')}</h1>
${view.done !== undefined && html`<p class="notice proof" role="status">${words.html(`apps.done.${view.done}`)}</p>`}
<p class="account"><span>${words.html('consent.account', { account: html`<strong><bdi>${view.account}</bdi></strong>` })}</span> ${backLink(words, view.back)}</p>
${view.apps.length === 0 ? html`<p>${words.html('apps.none')}</p><p class="muted">${words.html('apps.none.text')}</p>` : listed(words, dates, view)}`,
  };
}

function listed(words: Words, dates: Dates, view: AppsView): Html {
  return html`<p>${words.html('apps.text')}</p>
<ul class="apps">
${view.apps.map((app) => connectedApp(words, dates, app))}</ul>
${(view.previous !== undefined || view.next !== undefined) && pager(words, view)}
${view.total > 1 && html`<p class="actions"><a class="button" href="${view.disconnectAll}">${words.html('apps.disconnect.all')}</a></p>`}
<p class="muted">${words.html('apps.zone', { zone: dates.zone })}</p>`;
}

function pager(words: Words, { previous, next, total }: AppsView): Html {
  return html`<nav class="pager" aria-label="${words.text('apps.pages')}">
${previous !== undefined && html`<a href="${previous}" rel="prev">${words.html('apps.previous')}</a>`}
<span class="muted">${words.html('apps.total', { count: html`${total}` })}</span>
${next !== undefined && html`<a href="${next}" rel="next">${words.html('apps.next')}</a>`}
</nav>`;
}

export interface DisconnectView {
  /** What is to be disconnected; `connection` is one of several of an app. */
  readonly what: Target['kind'];
  /** The app's name, where it is one that is known. */
  readonly name: string | undefined;
  /** The form's address and its fields. */
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly cancel: string;
}

/** Asked before anything is cut off, with or without a script. */
export function disconnectPage(words: Words, view: DisconnectView): Page {
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
<button type="submit">${words.html('apps.confirm')}</button>
</div>
</form>`,
  };
}

/** Shown to a member who came back from the school's own sign-in without having signed in: no loop, a choice. */
export function appsSignInPage(
  words: Words,
  view: { readonly signIn: string; readonly back: string | undefined },
): Page {
  return {
    id: 'apps-sign-in',
    title: words.text('login.title'),
    body: html`
<h1>${words.html('login.heading')}</h1>
<p>${words.html('apps.sign-in')}</p>
<p class="actions"><a class="button go" href="${view.signIn}">${words.html('login.go')}</a></p>
${view.back !== undefined && html`<p>${backLink(words, view.back)}</p>`}`,
  };
}

function backLink(words: Words, back: string | undefined): Html | undefined {
  return back === undefined ? undefined : html`<a href="${back}" rel="noopener">${words.html('apps.back')}</a>`;
}
