import express, { type Request, type Response, Router } from 'express';
import { sendPage } from './pages/layout.ts';
import { loginPage } from './pages/login-page.ts';
import { messagePage } from './pages/message-page.ts';
import { returnPath } from './return-path.ts';
import type { Visitors } from './visitors.ts';

const HOME_OF_MEMBERS = '/my/courses';

/** The sign-in page, and the forms for signing in and out. */
export function signInRoutes(visitors: Visitors): Router {
  const router = Router({ caseSensitive: true });
  const form = express.urlencoded({ extended: false, limit: '16kb' });

  const showForm = (
    request: Request,
    response: Response,
    status: number,
    parts: { readonly returnTo: unknown; readonly login?: string; readonly problem?: string },
  ): void => {
    const visitor = visitors.meet(request, response);
    const main = loginPage({ ...parts, visitor, returnTo: returnPath(parts.returnTo) ?? HOME_OF_MEMBERS });
    sendPage(response, status, { id: 'school-login', title: 'Sign in', visitor, main });
  };

  router.get('/login', (request, response) => {
    const { return_to: returnTo, login } = request.query;
    showForm(request, response, 200, { returnTo, ...(typeof login === 'string' ? { login } : {}) });
  });
  router.post('/login', form, async (request, response) => {
    const login = fieldOf(request, 'login');
    const returnTo = fieldOf(request, 'return_to');
    if (!visitors.postedHere(request, fieldOf(request, 'csrf'))) {
      const problem = 'This form has expired. Please sign in again.';
      showForm(request, response, 403, { returnTo, login, problem });
      return;
    }
    const member = await visitors.signIn(request, response, login, fieldOf(request, 'password'));
    if (member === undefined) {
      showForm(request, response, 401, { returnTo, login, problem: 'Wrong email address or password.' });
      return;
    }
    response.redirect(303, returnPath(returnTo) ?? HOME_OF_MEMBERS);
  });
  router.post('/logout', form, (request, response) => {
    if (!visitors.postedHere(request, fieldOf(request, 'csrf'))) {
      const main = messagePage('Not signed out', 'This form has expired. Go back, reload and try again.');
      const visitor = visitors.meet(request, response);
      sendPage(response, 403, { id: 'school-message', title: 'Not signed out', visitor, main });
      return;
    }
    visitors.signOut(request, response);
    response.redirect(303, '/');
  });
  return router;
}

/** A field of the form. Missing and repeated fields count as empty. */
function fieldOf(request: Request, name: string): string {
  const value: unknown = (request.body as Record<string, unknown> | undefined)?.[name];
  return typeof value === 'string' ? value : '';
}
