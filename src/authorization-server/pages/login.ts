import { html } from '../../http/html.ts';
import type { Page } from './layout.ts';

export interface LoginView {
  readonly school: string;
  readonly signIn: string;
  readonly cancel: { readonly action: string; readonly csrf: string };
}

/** Shown to a member who came back from the school's own sign-in without being signed in: no loop, a choice. */
export function loginPage(view: LoginView): Page {
  return {
    id: 'login',
    school: view.school,
    title: 'Sign in',
    body: html`
<h1>You are not signed in to ${view.school} yet</h1>
<p>To go on, sign in with the account you already have. Your app is still waiting for you.</p>
<form method="post" action="${view.cancel.action}">
<input type="hidden" name="csrf" value="${view.cancel.csrf}">
<div class="actions">
<button type="submit" name="decision" value="deny">Cancel</button>
<a class="button go" href="${view.signIn}">Sign in</a>
</div>
</form>`,
  };
}
