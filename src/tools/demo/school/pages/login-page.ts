import { type Html, html } from '../../../../http/html.ts';
import type { Visitor } from '../visitors.ts';

/** What the sign-in page shows in addition to its fields. */
export interface LoginParts {
  readonly visitor: Visitor;
  readonly returnTo: string;
  readonly login?: string;
  readonly problem?: string;
}

/** The main part of the sign-in page. */
export function loginPage({ visitor, returnTo, login, problem }: LoginParts): Html {
  return html`<div class="panel narrow">
<h1>Sign in</h1>
${problem !== undefined && html`<p class="alert" role="alert">${problem}</p>`}
${
  visitor.member !== undefined &&
  html`<p class="info">You are signed in as ${visitor.member.name}.
<a href="${returnTo}">Continue as ${visitor.member.name}</a>, or sign in as someone else below.</p>`
}
<form method="post" action="/login">
<input type="hidden" name="csrf" value="${visitor.csrf}">
<input type="hidden" name="return_to" value="${returnTo}">
<label for="login">Email address</label>
<input id="login" name="login" type="email" autocomplete="username" required value="${login ?? ''}">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button>Sign in</button>
</form>
<p class="soft">The demo's members: student@example.com with the password <kbd>student</kbd>, and other@example.com
with the password <kbd>other</kbd>.</p>
</div>`;
}
