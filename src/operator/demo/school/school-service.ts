import { type ErrorRequestHandler, Router } from 'express';
import { addAssets, pageHeaders } from '../site.ts';
import { addRoute, type Parts } from './api.ts';
import { ApiError, asApiError, jsonErrors, nothingHere } from './api-error.ts';
import { coursePage, coursesPage, homePage, myCoursesPage } from './course-pages.ts';
import openapi from './openapi.json' with { type: 'json' };
import { messagePage, type Send, schoolDocument } from './page.ts';
import { restApi } from './rest-api.ts';
import { addSignIn } from './sign-in.ts';
import type { Visitors } from './visitors.ts';

/** The school itself: its pages, `/api/me` for the signed-in member, and the REST service. */
export function schoolService(parts: Parts, visitors: Visitors): Router {
  const { data, now } = parts;
  const router = Router({ caseSensitive: true });
  const send: Send = (request, response, status, page) => {
    const visitor = visitors.meet(request, response);
    response
      .status(status)
      .type('html')
      .send(schoolDocument(page(visitor), visitor));
  };

  router.use('/api', siteApi(parts, visitors), nothingHere, jsonErrors);
  router.use(pageHeaders);
  addAssets(router, 'school', '#14506b');
  addSignIn(router, visitors, send);
  router.get('/', (request, response) => {
    send(request, response, 200, ({ member }) => homePage(data, member));
  });
  router.get('/courses', (request, response) => {
    send(request, response, 200, () => coursesPage(data));
  });
  router.get('/courses/:slug', (request, response, next) => {
    const course = data.courses.find(({ slug }) => slug === request.params.slug);
    if (course === undefined) return next();
    send(request, response, 200, ({ member }) => coursePage(course, data, member, now()));
  });
  router.get('/my/courses', (request, response) => {
    const member = visitors.sessionOf(request)?.member;
    if (member === undefined) {
      return response.redirect(303, `/login?return_to=${encodeURIComponent(request.originalUrl)}`);
    }
    send(request, response, 200, () => myCoursesPage(data, member, now()));
  });
  const failed: ErrorRequestHandler = (thrown, request, response, next) => {
    if (response.headersSent) return next(thrown);
    const { status, message } = asApiError(thrown);
    const heading = status === 404 ? 'Not found' : 'That did not work';
    send(request, response, status, () => messagePage(heading, message));
  };
  return router.use(nothingHere, failed);
}

function siteApi(parts: Parts, visitors: Visitors): Router {
  const api = Router({ caseSensitive: true });
  addRoute(api, '/me', {
    get(request, response) {
      response.set('cache-control', 'no-store');
      const session = visitors.sessionOf(request);
      if (session === undefined) throw new ApiError(401, 'sign_in_required', 'Nobody is signed in.');
      const { id, email, name } = session.member;
      response.json({ id, email, name, membership: 'active', locale: 'en', signed_in_at: session.since });
    },
  });
  addRoute(api, '/openapi.json', { get: (_request, response) => void response.json(openapi) });
  return api.use('/v1', restApi(parts));
}
