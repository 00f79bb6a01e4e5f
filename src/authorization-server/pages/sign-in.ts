import { type Html, html } from '../../http/html.ts';
import type { MemberPage } from './layout.ts';
import { waitIn } from './wait.ts';
import { type CancelForm, posingWarning, type WaitingApp, waitingApp } from './waiting-app.ts';
import type { Phrase, Words } from './words.ts';

/** What the member signs in for. */
export type SignInPurpose =
  /** An app waits; undefined if it was deleted or disabled in the meantime. */
  | { readonly kind: 'app'; readonly app: WaitingApp | undefined; readonly cancel: CancelForm }
  /** The page of connected apps, with the link back to the course site, if there is one. */
  | { readonly kind: 'connected-apps'; readonly back: string | undefined }
  | { readonly kind: 'unknown' };

export interface SignInView {
  readonly action: string;
  readonly returnTo: string;
  readonly csrf: string;
  /** The initial value of the first field. */
  readonly username: string;
  readonly problem: Extract<Phrase, `sign_in.${'wrong' | 'slow_down' | 'suspended'}`> | undefined;
  /** Seconds until the next attempt, for `sign_in.slow_down`. */
  readonly wait?: number;
  readonly purpose: SignInPurpose;
}

/** The gate's own sign-in page, for credentials that the course site verifies. */
export function signInPage(words: Words, view: SignInView): MemberPage {
  const { action, returnTo, csrf, username, problem, wait = 0, purpose } = view;
  const described = problem !== undefined && html` aria-describedby="problem"`;
  const content = html`${problem !== undefined && html`<p class="notice problem" role="alert" id="problem">${words.html(problem, { wait: waitIn(words.locales, wait) })}</p>`}
<p>${words.html(purpose.kind === 'connected-apps' ? 'apps.sign-in' : 'sign_in.text')}</p>
<form method="post" action="${action}" class="fields">
<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="return_to" value="${returnTo}">
<label for="username">${words.html('sign_in.username')}</label>
<input id="username" name="username" value="${username}" required maxlength="320" autocomplete="username" autocapitalize="none" spellcheck="false" dir="auto"${username === '' && html` autofocus`}${described}>
<label for="password">${words.html('sign_in.password')}</label>
<input id="password" name="password" type="password" required maxlength="1024" autocomplete="current-password"${username !== '' && html` autofocus`}${described}>
<div class="actions"><button type="submit">${words.html('sign_in.go')}</button></div>
</form>`;
  return framed(words, purpose, content);
}

/** Lets the member choose a sign-in provider. */
export function providersPage(
  words: Words,
  providers: readonly { readonly name: string; readonly href: string }[],
  purpose: SignInPurpose,
): MemberPage {
  const content = html`<p>${words.html('sign_in.choose')}</p>
<ul class="providers">
${providers.map(({ name, href }) => html`<li><a class="button go" href="${href}">${words.html('sign_in.with', { provider: name })}</a></li>`)}
</ul>`;
  return framed(words, purpose, content);
}

/** What the sign-in is for, its content, and the way out of it. */
function framed(words: Words, purpose: SignInPurpose, content: Html): MemberPage {
  return {
    id: 'sign-in',
    title: words.text('sign_in.title'),
    body: html`
${heading(words, purpose)}
${content}
${wayBack(words, purpose)}`,
  };
}

function heading(words: Words, purpose: SignInPurpose): Html {
  if (purpose.kind !== 'app') return html`<h1>${words.html('sign_in.heading')}</h1>`;
  return html`<h1>${words.html('sign_in.heading.app', { app: waitingApp(words, purpose.app) })}</h1>
${purpose.app?.posing && html`<p class="notice problem">${posingWarning(words, purpose.app.posing)}</p>`}`;
}

/** The way out of the sign-in. It is a separate form, so that what was typed is not sent with it. */
function wayBack(words: Words, purpose: SignInPurpose): Html | undefined {
  if (purpose.kind === 'app')
    return html`<form method="post" action="${purpose.cancel.action}" class="way-back">
<input type="hidden" name="csrf" value="${purpose.cancel.csrf}">
<button type="submit" name="decision" value="deny">${words.html('sign_in.cancel')}</button>
</form>`;
  if (purpose.kind === 'unknown' || purpose.back === undefined) return undefined;
  return html`<p class="way-back"><a class="button" href="${purpose.back}">${words.html('apps.back')}</a></p>`;
}
