import type { RequestHandler, Router } from 'express';
import { addRoute, gatedApi, jsonBody, jsonObject, type Parts } from './api.ts';
import { ApiError } from './api-error.ts';
import type { Position } from './data/enrolments.ts';
import { membersOnly, requireMember } from './gate-identity.ts';

const MOST_SLUGS = 100;

/** The progress service: where the calling member stopped watching each course. */
export function progressService(parts: Parts): Router {
  const { courses, positions } = parts.data;
  return gatedApi('progress', parts, (router) => {
    router.use(membersOnly);
    addRoute(router, '/v2/positions', {
      get(request, response) {
        const own = positions.get(requireMember(response));
        response.json({ positions: wantedSlugs(request.query.slugs).flatMap((slug) => own?.get(slug) ?? []) });
      },
    });
    const store: RequestHandler = (request, response) => {
      const { slug } = request.params;
      const course_slug = courses.find((course) => course.slug === slug)?.slug;
      if (course_slug === undefined) throw new ApiError(404, 'not_found', 'There is no such course.');
      const { lecture_id, position_ms } = jsonObject(request);
      if (!isCount(lecture_id) || !isCount(position_ms)) {
        throw new ApiError(400, 'bad_request', 'lecture_id and position_ms must be whole numbers from 0.');
      }
      const position = { course_slug, lecture_id, position_ms, updated_at: parts.now() };
      const memberId = requireMember(response);
      const own = positions.get(memberId) ?? new Map<string, Position>();
      positions.set(memberId, own.set(course_slug, position));
      response.json(position);
    };
    addRoute(router, '/v2/positions/:slug', { put: [jsonBody, store] });
  });
}

function wantedSlugs(given: unknown): readonly string[] {
  if (typeof given !== 'string') throw new ApiError(400, 'bad_request', 'Name the courses: slugs=a,b,c');
  const wanted = new Set(given.split(',').filter((slug) => slug !== ''));
  if (wanted.size > MOST_SLUGS) throw new ApiError(400, 'bad_request', `At most ${MOST_SLUGS} courses at once.`);
  return [...wanted];
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
