import express, { type Router } from 'express';
import { messagePage, type Send } from './pages/layout.ts';
import { loginPage } from './pages/login-page.ts';
import type { Visitors } from './visitors.ts';

const HOME_OF_MEMBERS = '/my/courses';
const LONGEST_RETURN = 2048;
const SITE_PATH = /^\/(?![/\\])[^\p{Cc}]*$/u;

/** Adds the sign-in page, and the forms for signing in and out. */
export function addSignIn(router: Router, visitors: Visitors, send: Send): void {
  const form = express.urlencoded({ extended: false, limit: '16kb' });
  router.get('/login', (request, response) => {
    const { return_to, login } = request.query;
    send(request, response, 200, (visitor) => loginPage(visitor, returnPath(return_to), textOf(login)));
  });
  router.post('/login', form, async (request, response) => {
    const { csrf, password, ...kept } = Object(request.body) as Record<string, unknown>;
    const [returnTo, login] = [returnPath(kept.return_to), textOf(kept.login)];
    const refuse = (status: number, problem: string) =>
      send(request, response, status, (visitor) => loginPage(visitor, returnTo, login, problem));
    if (!visitors.postedHere(request, textOf(csrf))) return refuse(403, 'This form has expired. Please sign in again.');
    if (!(await visitors.signIn(request, response, login, textOf(password)))) {
      return refuse(401, 'Wrong email address or password.');
    }
    response.redirect(303, returnTo);
  });
  router.post('/logout', form, (request, response) => {
    const { csrf } = Object(request.body) as Record<string, unknown>;
    if (!visitors.postedHere(request, textOf(csrf))) {
      const expired = 'This form has expired. Go back, reload and try again.';
      return send(request, response, 403, () => messagePage('Not signed out', 'Not signed out', expired));
    }
    visitors.signOut(request, response);
    response.redirect(303, '/');
  });
}

/** A parameter. Missing and repeated ones count as empty. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/**
 * Where to go after sign-in: `given` if it is a path of this site. A leading double slash or backslash, or control
 * characters that browsers drop, would lead to another site.
 */
function returnPath(given: unknown): string {
  const path = textOf(given);
  return path.length <= LONGEST_RETURN && SITE_PATH.test(path) ? path : HOME_OF_MEMBERS;
}
