import { type Html, html } from '../../http/html.ts';
import { type MemberPage, titled } from './layout.ts';
import { type CancelForm, type WaitingApp, waitingApp } from './waiting-app.ts';
import type { Words } from './words.ts';

interface StopView {
  /** The signed-in account, if there is one. */
  readonly account: string | undefined;
  /** Undefined when it was deleted or disabled in the meantime. */
  readonly app: WaitingApp | undefined;
  readonly cancel: CancelForm;
}

/** Shown when a member returns from the course site without having signed in. A redirect would loop, so they choose. */
export function loginPage(words: Words, view: StopView & { readonly signIn: string }): MemberPage {
  const again = view.account === undefined ? 'login' : 'login.again';
  const go = html`<a class="button go" href="${view.signIn}">${words.html(`${again}.go`)}</a>`;
  return stopPage(words, 'login', again, view, { go });
}

/** Shown to a suspended member instead of the consent page. */
export function suspendedPage(words: Words, view: StopView): MemberPage {
  const advice = html`<p>${words.html('suspended.advice')}</p>`;
  return stopPage(words, 'suspended', 'suspended', view, { advice });
}

/**
 * Shown when the app asks for another member than the one who is signed in. `expected` is the id that the app's
 * `id_token_hint` contains.
 */
export function expectedPage(
  words: Words,
  view: StopView & { readonly expected: string; readonly switchAccount: string },
): MemberPage {
  const advice = html`<p class="muted">${words.html('expected.id', { id: html`<bdi><code>${view.expected}</code></bdi>` })}</p>`;
  const go = html`<a class="button go" href="${view.switchAccount}">${words.html('expected.go')}</a>`;
  return stopPage(words, 'expected', 'expected', view, { advice, go });
}

/** Shown when the app must know when the member signed in, and the course site does not say. */
export function unconfirmedPage(words: Words, view: StopView): MemberPage {
  const advice = html`<p>${words.html('unconfirmed.advice')}</p>`;
  return stopPage(words, 'unconfirmed', 'unconfirmed', view, { advice });
}

function stopPage(
  words: Words,
  id: 'login' | 'suspended' | 'expected' | 'unconfirmed',
  phrase: 'login' | 'login.again' | 'suspended' | 'expected' | 'unconfirmed',
  { account, app, cancel }: StopView,
  { advice, go }: { readonly advice?: Html; readonly go?: Html },
): MemberPage {
  const body = html`<p>${words.html(`${phrase}.text`, { account: html`<strong><bdi>${account}</bdi></strong>`, app: waitingApp(words, app) })}</p>
${advice}
<form method="post" action="${cancel.action}">
<input type="hidden" name="csrf" value="${cancel.csrf}">
<div class="actions">
<button type="submit" name="decision" value="deny">${words.html(`${id}.cancel`)}</button>
${go}
</div>
</form>`;
  return titled(words, id, body, `${phrase}.title`, `${phrase}.heading`);
}
