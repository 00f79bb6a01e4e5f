import { Router } from 'express';
import { ApiError, onlyMethods } from './api-error.ts';
import type { Enrolment } from './data/enrolments.ts';
import { requireIdentity } from './gate-identity.ts';
import { pageOf } from './paging.ts';

/** The route by which members read their own enrolments. */
export function enrolmentApi(enrolments: readonly Enrolment[]): Router {
  const router = Router({ caseSensitive: true });
  router
    .route('/members/:id/enrolments')
    .get((request, response) => {
      const { memberId } = requireIdentity(response);
      if (request.params.id !== memberId) throw new ApiError(403, 'not_yours', 'These enrolments are not yours.');
      const own = enrolments.filter((enrolment) => enrolment.memberId === memberId);
      response.json(pageOf(request, own.map(asRow)));
    })
    .all(onlyMethods('GET', 'HEAD'));
  return router;
}

function asRow({ id, course, enrolledAt, expiresAt }: Enrolment): object {
  return {
    id,
    course: { id: course.id, slug: course.slug, title: course.title },
    enrolled_at: enrolledAt,
    expires_at: expiresAt,
    lifetime: expiresAt === 0 ? 1 : 0,
  };
}
