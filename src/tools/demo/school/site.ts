import { type ErrorRequestHandler, type Request, type Response, Router } from 'express';
import type { Html } from '../../../http/html.ts';
import { statusOf } from './api-error.ts';
import type { SchoolData } from './data/school-data.ts';
import { unixSeconds } from './data/time.ts';
import { coursePage } from './pages/course-page.ts';
import { coursesPage } from './pages/courses-page.ts';
import { homePage } from './pages/home-page.ts';
import { ICON } from './pages/icon.ts';
import { SCHOOL_NAME, sendPage } from './pages/layout.ts';
import { messagePage } from './pages/message-page.ts';
import { myCoursesPage } from './pages/my-courses-page.ts';
import { shownPart } from './pages/pager.ts';
import { STYLESHEET } from './pages/stylesheet.ts';
import { signInRoutes } from './sign-in.ts';
import type { Visitors } from './visitors.ts';

const FEATURED = 6;

/** Every page of the school. */
export function site(data: SchoolData, visitors: Visitors, clock: () => number): Router {
  const router = Router({ caseSensitive: true });
  const show = (request: Request, response: Response, status: number, id: string, title: string, main: Html) =>
    sendPage(response, status, { id, title, visitor: visitors.meet(request, response), main });

  router.get('/style.css', (_request, response) => {
    response.set('cache-control', 'public, max-age=300').type('css').send(STYLESHEET);
  });
  router.get('/favicon.ico', (_request, response) => {
    response.set('cache-control', 'public, max-age=300').type('svg').send(ICON);
  });
  router.get('/', (request, response) => {
    const visitor = visitors.meet(request, response);
    const main = homePage(visitor, data.courses.slice(0, FEATURED), data.courses.length);
    sendPage(response, 200, { id: 'school-home', title: 'Welcome', visitor, main });
  });
  router.use(signInRoutes(visitors));
  router.get('/courses', (request, response) => {
    const main = coursesPage(shownPart(data.courses, request.query.page));
    show(request, response, 200, 'school-courses', 'Courses', main);
  });
  router.get('/courses/:slug', (request, response, next) => {
    const course = data.courses.find(({ slug }) => slug === request.params.slug);
    if (course === undefined) {
      next();
      return;
    }
    const memberId = visitors.memberOf(request)?.id ?? '';
    const part = {
      enrolment: data.enrolments.find((item) => item.memberId === memberId && item.course.id === course.id),
      position: data.positions.get(memberId)?.get(course.slug),
    };
    const main = coursePage(course, part, unixSeconds(clock()));
    show(request, response, 200, 'school-course', course.title, main);
  });
  router.get('/my/courses', (request, response) => {
    const member = visitors.memberOf(request);
    if (member === undefined) {
      response.redirect(303, `/login?return_to=${encodeURIComponent(request.originalUrl)}`);
      return;
    }
    const own = data.enrolments.filter((enrolment) => enrolment.memberId === member.id);
    const shown = shownPart(own, request.query.page);
    const main = myCoursesPage(shown, data.positions.get(member.id), unixSeconds(clock()));
    show(request, response, 200, 'school-my-courses', 'My courses', main);
  });
  router.use((request, response) => {
    const main = messagePage('Not found', `${SCHOOL_NAME} has no page at this address.`);
    show(request, response, 404, 'school-message', 'Not found', main);
  });

  const failed: ErrorRequestHandler = (thrown, request, response, next) => {
    if (response.headersSent) {
      next(thrown);
      return;
    }
    const status = statusOf(thrown);
    const theirs = status >= 400 && status < 500;
    if (!theirs) console.error('school: a page failed', thrown);
    const main = theirs
      ? messagePage('That did not work', 'The request could not be understood.')
      : messagePage('Something went wrong', 'The fault is ours. Please try again in a moment.');
    show(request, response, theirs ? status : 500, 'school-message', theirs ? 'Bad request' : 'Error', main);
  };
  router.use(failed);
  return router;
}
