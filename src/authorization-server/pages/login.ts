import { html } from '../../http/html.ts';
import type { Page } from './layout.ts';
import type { Words } from './words.ts';

export interface LoginView {
  /** The account that is already signed in, when the app requires a new sign-in. */
  readonly account: string | undefined;
  readonly signIn: string;
  readonly cancel: { readonly action: string; readonly csrf: string };
}

/** Shown when a member returns from the course site without having signed in. A redirect would loop, so they choose. */
export function loginPage(words: Words, { account, signIn, cancel }: LoginView): Page {
  const again = account === undefined ? 'login' : 'login.again';
  return {
    id: 'login',
    title: words.text(`${again}.title`),
    body: html`
<h1>${words.html(`${again}.heading`)}</h1>
<p>${words.html(`${again}.text`, { account: html`<strong><bdi>${account}</bdi></strong>` })}</p>
<form method="post" action="${cancel.action}">
<input type="hidden" name="csrf" value="${cancel.csrf}">
<div class="actions">
<button type="submit" name="decision" value="deny">${words.html('login.cancel')}</button>
<a class="button go" href="${signIn}">${words.html(`${again}.go`)}</a>
</div>
</form>`,
  };
}
