import { html } from '../../../http/html.ts';
import type { Page } from './page.ts';
import type { Visitor } from './visitors.ts';

/** The sign-in page. */
export function loginPage({ member, csrf }: Visitor, returnTo: string, login: string, problem?: string): Page {
  const main = html`<div class="panel narrow">
<h1>Sign in</h1>
${problem !== undefined && html`<p class="alert" role="alert">${problem}</p>`}
${
  member !== undefined &&
  html`<p class="info">You are signed in as ${member.name}.
<a href="${returnTo}">Continue as ${member.name}</a>, or sign in as someone else below.</p>`
}
<form method="post" action="/login">
<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="return_to" value="${returnTo}">
<label for="login">Email address</label>
<input id="login" name="login" type="email" autocomplete="username" required value="${login}">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button>Sign in</button>
</form>
<p class="soft">The demo's members: student@example.com with the password <kbd>student</kbd>, and other@example.com
with the password <kbd>other</kbd>.</p>
</div>`;
  return { id: 'school-login', title: 'Sign in', main };
}
