import { type ErrorRequestHandler, Router } from 'express';
import { addRoute, type Parts } from './api.ts';
import { ApiError, jsonErrors, nothingHere, statusOf } from './api-error.ts';
import { coursePage, coursesPage, homePage, myCoursesPage } from './pages/course-pages.ts';
import { ICON, messagePage, SCHOOL_NAME, type Send, sendPage } from './pages/layout.ts';
import { shownPart } from './pages/pager.ts';
import { STYLESHEET } from './pages/stylesheet.ts';
import { restApi } from './rest-api.ts';
import { addSignIn } from './sign-in.ts';
import type { Visitors } from './visitors.ts';

const FEATURED = 6;

/** The school itself: its pages, `/api/me` for the signed-in member, and the REST service. */
export function schoolService(parts: Parts, visitors: Visitors): Router {
  const { data, now } = parts;
  const router = Router({ caseSensitive: true });
  const send: Send = (request, response, status, page) => {
    const visitor = visitors.meet(request, response);
    sendPage(response, status, visitor, page(visitor));
  };

  router.use('/api', siteApi(parts, visitors));
  for (const [path, type, text] of [
    ['/style.css', 'css', STYLESHEET],
    ['/favicon.ico', 'svg', ICON],
  ] as const) {
    router.get(path, (_request, response) => {
      response.set('cache-control', 'public, max-age=300').type(type).send(text);
    });
  }
  router.get('/', (request, response) => {
    const featured = data.courses.slice(0, FEATURED);
    send(request, response, 200, ({ member }) => homePage(member, featured, data.courses.length));
  });
  addSignIn(router, visitors, send);
  router.get('/courses', (request, response) => {
    send(request, response, 200, () => coursesPage(shownPart(data.courses, request.query.page)));
  });
  router.get('/courses/:slug', (request, response, next) => {
    const course = data.courses.find(({ slug }) => slug === request.params.slug);
    if (course === undefined) return next();
    const memberId = visitors.memberOf(request)?.id ?? '';
    const enrolment = data.enrolments.find((item) => item.memberId === memberId && item.course.id === course.id);
    const position = data.positions.get(memberId)?.get(course.slug);
    send(request, response, 200, () => coursePage(course, enrolment, position, now()));
  });
  router.get('/my/courses', (request, response) => {
    const member = visitors.memberOf(request);
    if (member === undefined) {
      return response.redirect(303, `/login?return_to=${encodeURIComponent(request.originalUrl)}`);
    }
    const own = data.enrolments.filter((enrolment) => enrolment.memberId === member.id);
    const shown = shownPart(own, request.query.page);
    send(request, response, 200, () => myCoursesPage(shown, data.positions.get(member.id), now()));
  });
  router.use((request, response) => {
    const sentence = `${SCHOOL_NAME} has no page at this address.`;
    send(request, response, 404, () => messagePage('Not found', 'Not found', sentence));
  });
  const failed: ErrorRequestHandler = (thrown, request, response, next) => {
    if (response.headersSent) return next(thrown);
    const status = statusOf(thrown);
    if (status === 500) console.error('school: a page failed', thrown);
    send(request, response, status, () =>
      status === 500
        ? messagePage('Error', 'Something went wrong', 'The fault is ours. Please try again in a moment.')
        : messagePage('Bad request', 'That did not work', 'The request could not be understood.'),
    );
  };
  return router.use(failed);
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
  return api.use('/v1', restApi(parts)).use(nothingHere, jsonErrors);
}
