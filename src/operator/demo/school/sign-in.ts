import express, { type Router } from 'express';
import { html } from '../../../http/html.ts';
import { messagePage, type Page, type Send } from './page.ts';
import type { Visitor, Visitors } from './visitors.ts';

const HOME_OF_MEMBERS = '/my/courses';
const LONGEST_RETURN = 2048;
const SITE_PATH = /^\/(?![/\\])[^\p{Cc}]*$/u;

/** Adds the sign-in page, and the forms for signing in and out. */
export function addSignIn(router: Router, visitors: Visitors, send: Send): void {
  const form = express.urlencoded({ extended: false, limit: '16kb' });
  router.get('/login', (request, response) => {
    const { return_to, login } = fieldsOf(request.query);
    send(request, response, 200, (visitor) => loginPage(visitor, return_to, login));
  });
  router.post('/login', form, (request, response) => {
    const { csrf, login, password, return_to } = fieldsOf(request.body);
    const refuse = (status: number, problem: string) =>
      send(request, response, status, (visitor) => loginPage(visitor, return_to, login, problem));
    if (!visitors.postedHere(request, csrf)) return refuse(403, 'This form has expired. Please sign in again.');
    if (!visitors.signIn(request, response, login, password)) return refuse(401, 'Wrong email address or password.');
    response.redirect(303, return_to);
  });
  router.post('/logout', form, (request, response) => {
    if (!visitors.postedHere(request, fieldsOf(request.body).csrf)) {
      const expired = 'This form has expired. Go back, reload and try again.';
      return send(request, response, 403, () => messagePage('Not signed out', expired));
    }
    visitors.signOut(request, response);
    response.redirect(303, '/');
  });
}

/** The fields of the forms. Missing and repeated ones count as empty. */
function fieldsOf(given: unknown) {
  const text = (name: string): string => {
    const value = (Object(given) as Record<string, unknown>)[name];
    return typeof value === 'string' ? value : '';
  };
  // A leading double slash or backslash, or control characters that browsers drop, would lead to another site.
  const path = text('return_to');
  const return_to = path.length <= LONGEST_RETURN && SITE_PATH.test(path) ? path : HOME_OF_MEMBERS;
  return { csrf: text('csrf'), login: text('login'), password: text('password'), return_to };
}

/** The sign-in page. */
function loginPage({ member, csrf }: Visitor, returnTo: string, login: string, problem?: string): Page {
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
<p class="soft">The demo's members: student@example.com with the password <kbd>student</kbd>, other@example.com
with the password <kbd>other</kbd>, and teacher@example.com, who teaches a course, with the password <kbd>teacher</kbd>.</p>
</div>`;
  return { id: 'school-login', title: 'Sign in', main };
}
